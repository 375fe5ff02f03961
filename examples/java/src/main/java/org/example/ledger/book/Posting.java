package org.example.ledger.book;

import org.example.ledger.account.Account;
import org.example.ledger.money.Money;

/** An amount on an account: a debit if positive, a credit if negative. */
public record Posting(Account account, Money amount) {
    public boolean isDebit() {
        return !amount.isNegative();
    }

    /** By how much the account grows. */
    public Money growth() {
        return account.kind().sign() > 0 ? amount : amount.negated();
    }
}
