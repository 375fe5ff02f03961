package org.example.ledger.loan;

import java.util.ArrayList;
import java.util.List;
import org.example.ledger.money.Money;
import org.example.ledger.money.Rounding;

/** All instalments of a loan; the last one pays what rounding has left. */
public final class Plan {
    private final List<Instalment> instalments = new ArrayList<>();

    public Plan(Loan loan, Rounding rounding) {
        Money part = new Money(loan.debt().currency(), rounding.round(loan.annuity()));
        Money debt = loan.debt();
        for (int month = 1; month <= loan.months(); month++) {
            Money interest = debt.times(loan.monthlyRate(), rounding);
            boolean isLast = month == loan.months();
            Money repaid = isLast ? debt : part.minus(interest);
            debt = debt.minus(repaid);
            instalments.add(new Instalment(month, interest, repaid, debt));
        }
    }

    public List<Instalment> instalments() {
        return List.copyOf(instalments);
    }

    public Money cost() {
        return instalments.stream().map(Instalment::interest).reduce(Money::plus).orElseThrow();
    }
}
