package org.example.ledger.money;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class RoundingTest {
    @Test
    void halvesGoUpOrToTheEvenNumberOrAreDropped() {
        assertEquals(3, Rounding.HALF_UP.round(2.5));
        assertEquals(2, Rounding.HALF_EVEN.round(2.5));
        assertEquals(2, Rounding.DOWN.round(2.9));
    }

    @Test
    void roundsToMultiples() {
        assertEquals(15, Rounding.HALF_UP.toMultipleOf(5).round(13));
        assertEquals(10, Rounding.DOWN.toMultipleOf(5).round(13));
    }
}
