package org.example.ledger.book;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.example.ledger.account.Kind;
import org.example.ledger.money.Currency;
import org.example.ledger.money.Money;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BalancesTest extends Household {
    private Balances balances;

    @BeforeEach
    void book() {
        Journal journal = new Journal();
        journal.add(earned("2024-01-31", "2000 EUR"));
        journal.add(paid("2024-02-01", "Rent", rent, "800 EUR"));
        journal.add(paid("2024-02-03", "Market", food, "45.50 EUR"));
        balances = Balances.of(journal, Currency.EUR);
    }

    @Test
    void accountsAndKindsHaveBalances() {
        assertEquals(Money.parse("1154.50 EUR"), balances.of(bank));
        assertEquals(Money.parse("2000 EUR"), balances.of(salary));
        assertEquals(Money.zero(Currency.EUR), balances.of(card));
        assertEquals(Money.parse("845.50 EUR"), balances.of(Kind.EXPENSE));
    }

    @Test
    void whatIsBelowAnAccountCounts() {
        assertEquals(Money.parse("845.50 EUR"), balances.under("household"));
        assertEquals(Money.parse("800 EUR"), balances.under("household:rent"));
    }

    @Test
    void theBooksAreConsistent() {
        assertEquals(Money.parse("1154.50 EUR"), balances.profit());
        assertTrue(balances.isConsistent());
    }
}
