package org.example.ledger.book;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.example.ledger.account.Account;
import org.example.ledger.account.Kind;
import org.example.ledger.money.Money;
import org.junit.jupiter.api.Test;

class PostingTest {
    private final Money three = Money.parse("3 EUR");

    @Test
    void debitsLetAssetsGrowAndDebtsShrink() {
        Posting asset = new Posting(new Account("bank", Kind.ASSET), three);
        Posting debt = new Posting(new Account("card", Kind.LIABILITY), three);
        assertTrue(asset.isDebit());
        assertEquals(three, asset.growth());
        assertEquals(three.negated(), debt.growth());
    }

    @Test
    void aNegativeAmountIsACredit() {
        assertFalse(new Posting(new Account("bank", Kind.ASSET), three.negated()).isDebit());
    }
}
