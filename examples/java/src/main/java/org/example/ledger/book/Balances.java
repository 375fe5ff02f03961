package org.example.ledger.book;

import java.util.Map;
import java.util.TreeMap;
import org.example.ledger.account.Account;
import org.example.ledger.account.Kind;
import org.example.ledger.money.Currency;
import org.example.ledger.money.Money;

/** What is on every account, in one currency. */
public final class Balances {
    private final Currency currency;
    private final Map<Account, Money> growth = new TreeMap<>();

    public Balances(Currency currency) {
        this.currency = currency;
    }

    public static Balances of(Journal journal, Currency currency) {
        Balances balances = new Balances(currency);
        journal.forEach(balances::add);
        return balances;
    }

    public void add(Entry entry) {
        for (Posting posting : entry.postings()) {
            growth.merge(posting.account(), posting.growth(), Money::plus);
        }
    }

    public Money of(Account account) {
        return growth.getOrDefault(account, Money.zero(currency));
    }

    /** Of an account and all below it. */
    public Money under(String path) {
        return sum((account, money) -> account.path().equals(path) || account.isBelow(path));
    }

    public Money of(Kind kind) {
        return sum((account, money) -> account.kind() == kind);
    }

    /** What the year has brought. */
    public Money profit() {
        return of(Kind.INCOME).minus(of(Kind.EXPENSE));
    }

    /** Assets are what is owed, what is owned and what was earned. */
    public boolean isConsistent() {
        Money claims = of(Kind.LIABILITY).plus(of(Kind.EQUITY)).plus(profit());
        return of(Kind.ASSET).equals(claims);
    }

    private Money sum(Choice choice) {
        Money[] sum = {Money.zero(currency)};
        growth.forEach((account, money) -> {
            if (choice.includes(account, money)) {
                sum[0] = sum[0].plus(money);
            }
        });
        return sum[0];
    }

    private interface Choice {
        boolean includes(Account account, Money money);
    }
}
