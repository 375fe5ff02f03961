package org.example.ledger.loan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.example.ledger.money.Money;
import org.junit.jupiter.api.Test;

class LoanTest {
    private final Money debt = Money.parse("1200 EUR");

    @Test
    void withoutInterestEveryMonthPaysTheSame() {
        assertEquals(10000, new Loan(debt, 0, 12).annuity());
    }

    @Test
    void interestIsPartOfTheAnnuity() {
        assertEquals(10661.85, new Loan(debt, 0.12, 12).annuity(), 0.01);
    }

    @Test
    void aLoanRunsForSomeTime() {
        assertThrows(IllegalArgumentException.class, () -> new Loan(debt, 0.1, 0));
        assertThrows(IllegalArgumentException.class, () -> new Loan(debt, -0.1, 1));
    }
}
