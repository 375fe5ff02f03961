package org.example.ledger.book;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import org.example.ledger.money.Money;
import org.junit.jupiter.api.Test;

class EntryTest extends Household {
    private final LocalDate day = LocalDate.of(2024, 2, 29);

    @Test
    void aBalancedEntryHasTheVolumeOfItsDebits() {
        Entry entry = Entry.on(day, "Shopping")
                .debit(food, Money.parse("30 EUR"))
                .debit(rent, Money.parse("12 EUR"))
                .credit(bank, Money.parse("42 EUR"))
                .build();
        assertEquals(Money.parse("42 EUR"), entry.volume());
        assertTrue(entry.touches(bank));
        assertFalse(entry.touches(card));
    }

    @Test
    void anEntryThatDoesNotAddUpIsRefusedAndSaysByHowMuch() {
        Entry.Builder entry = Entry.on(day, "Wrong").debit(food, Money.parse("3 EUR")).credit(bank, Money.parse("2 EUR"));
        UnbalancedException error = assertThrows(UnbalancedException.class, entry::build);
        assertEquals(100, error.difference());
        assertEquals("Wrong is off by 1.00 EUR", error.getMessage());
    }

    @Test
    void oneSideAloneIsNoEntry() {
        assertThrows(UnbalancedException.class, () -> Entry.on(day, "Half").debit(food, Money.parse("0 EUR")).build());
    }
}
