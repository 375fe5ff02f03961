package org.example.ledger.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.example.ledger.query.Filter.Amount;
import org.example.ledger.query.Filter.Both;
import org.example.ledger.query.Filter.Either;
import org.example.ledger.query.Filter.Not;
import org.example.ledger.query.Filter.Text;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FilterParserTest {
    @Test
    void andBindsMoreTightlyThanOr() {
        Filter expected = new Either(new Text("a"), new Both(new Text("b"), new Not(new Text("c"))));
        assertEquals(expected, FilterParser.parse("a or b and not c"));
    }

    @Test
    void bracketsBindMostTightly() {
        Filter expected = new Both(new Either(new Text("a"), new Text("b")), new Amount(5, false));
        assertEquals(expected, FilterParser.parse("(a OR b) and under 5"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"(a", "a )", "not", "a and", "over x"})
    void nonsenseIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> FilterParser.parse(text));
    }
}
