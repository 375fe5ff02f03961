package org.example.ledger.book;

import java.time.LocalDate;
import org.example.ledger.account.Account;
import org.example.ledger.account.Chart;
import org.example.ledger.account.Kind;
import org.example.ledger.money.Money;

/** Accounts and entries that several tests use. */
public class Household {
    public final Chart chart = new Chart();
    public final Account bank = chart.open("bank", Kind.ASSET);
    public final Account card = chart.open("card", Kind.LIABILITY);
    public final Account salary = chart.open("salary", Kind.INCOME);
    public final Account food = chart.open("household:food", Kind.EXPENSE);
    public final Account rent = chart.open("household:rent", Kind.EXPENSE);

    public Entry paid(String day, String text, Account account, String amount) {
        Money money = Money.parse(amount);
        return Entry.on(LocalDate.parse(day), text).debit(account, money).credit(bank, money).build();
    }

    public Entry earned(String day, String amount) {
        Money money = Money.parse(amount);
        return Entry.on(LocalDate.parse(day), "Salary").debit(bank, money).credit(salary, money).build();
    }
}
