package org.example.ledger.loan;

import org.example.ledger.money.Money;

/** A debt that is paid back in equal monthly parts. */
public record Loan(Money debt, double yearlyRate, int months) {
    public Loan {
        if (months <= 0 || yearlyRate < 0) {
            throw new IllegalArgumentException("a loan runs for some time and costs interest");
        }
    }

    public double monthlyRate() {
        return yearlyRate / 12;
    }

    /** The part to pay each month, before rounding. */
    public double annuity() {
        double rate = monthlyRate();
        if (rate == 0) {
            return (double) debt.minor() / months;
        }
        return debt.minor() * rate / (1 - Math.pow(1 + rate, -months));
    }
}
