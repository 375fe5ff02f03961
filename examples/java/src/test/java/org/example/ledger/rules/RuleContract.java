package org.example.ledger.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.example.ledger.book.Entry;
import org.example.ledger.book.Household;
import org.junit.jupiter.api.Test;

/** What every rule must do. */
interface RuleContract {
    Household HOUSEHOLD = new Household();

    Rule rule();

    default Entry good() {
        return HOUSEHOLD.paid("2024-03-01", "Market", HOUSEHOLD.food, "20 EUR");
    }

    @Test
    default void aGoodEntryIsFine() {
        assertEquals(List.of(), rule().check(good()));
    }

    @Test
    default void joinedWithItselfItSaysEverythingTwice() {
        Entry bad = HOUSEHOLD.paid("1999-01-01", "what a long text that is, with so many words", HOUSEHOLD.food, "2000 EUR");
        assertEquals(2 * rule().check(bad).size(), rule().and(rule()).check(bad).size());
    }
}
