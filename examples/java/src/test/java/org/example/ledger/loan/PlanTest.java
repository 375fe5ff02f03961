package org.example.ledger.loan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.example.ledger.money.Money;
import org.example.ledger.money.Rounding;
import org.junit.jupiter.api.Test;

class PlanTest {
    private final Plan plan = new Plan(new Loan(Money.parse("1000 EUR"), 0.12, 3), Rounding.HALF_UP);

    @Test
    void theDebtIsPaidBackToTheLastCent() {
        List<Instalment> instalments = plan.instalments();
        assertEquals(3, instalments.size());
        assertTrue(instalments.get(2).debt().isZero());
        assertEquals(Money.parse("10 EUR"), instalments.get(0).interest());
    }

    @Test
    void allButTheLastPaymentAreEqual() {
        List<Money> payments = plan.instalments().stream().map(Instalment::payment).toList();
        assertEquals(List.of("340.02 EUR", "340.02 EUR", "340.03 EUR"), payments.stream().map(Money::toString).toList());
    }

    @Test
    void interestIsWhatItCosts() {
        assertEquals(Money.parse("20.07 EUR"), plan.cost());
    }
}
