package org.example.ledger.book;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import java.util.List;
import org.example.ledger.rules.PeriodRule;
import org.junit.jupiter.api.Test;

class JournalTest extends Household {
    private final Entry march = paid("2024-03-01", "Rent", rent, "800 EUR");
    private final Entry april = paid("2024-04-01", "Rent", rent, "800 EUR");

    @Test
    void entriesAreKeptInTheOrderOfTheirDays() {
        Journal journal = new Journal();
        assertTrue(journal.add(april).isEmpty());
        assertTrue(journal.add(march).isEmpty());
        assertEquals(march, journal.iterator().next());
        assertEquals(List.of(march), journal.between(LocalDate.of(2024, 3, 1), LocalDate.of(2024, 3, 31)));
    }

    @Test
    void anEntryAgainstTheRulesIsNotKept() {
        Journal journal = new Journal(PeriodRule.year(2023));
        assertEquals(1, journal.add(march).size());
        assertEquals(0, journal.size());
    }

    @Test
    void theEntriesOfAnAccountAreFound() {
        Journal journal = new Journal();
        journal.add(march);
        assertEquals(List.of(march), journal.of(rent));
        assertEquals(List.of(), journal.of(food));
    }
}
