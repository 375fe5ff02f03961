package org.example.ledger.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.example.ledger.book.Entry;
import org.example.ledger.rules.Violation.Severity;
import org.junit.jupiter.api.Test;

class TextRuleTest implements RuleContract {
    @Override
    public Rule rule() {
        return new TextRule();
    }

    protected Entry called(String text) {
        return HOUSEHOLD.paid("2024-01-01", text, HOUSEHOLD.food, "1 EUR");
    }

    @Test
    void anEntryWithoutTextIsWorseThanASmallLetter() {
        Rule warnings = rule().atLeast(Severity.WARNING);
        assertEquals(1, warnings.check(called(" ")).size());
        assertEquals(expectedWarnings(), warnings.check(called("market")).size());
    }

    @Test
    void longTextsAreNoted() {
        assertEquals(List.of(), rule().check(called("A".repeat(longest()))));
        assertEquals(1, rule().check(called("A".repeat(longest() + 1))).size());
    }

    protected int longest() {
        return 40;
    }

    protected int expectedWarnings() {
        return 0;
    }
}
