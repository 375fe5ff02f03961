package org.example.ledger.money;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MoneyTest {
    private static Money euro(long cents) {
        return new Money(Currency.EUR, cents);
    }

    @Nested
    class Text {
        @ParameterizedTest
        @ValueSource(strings = {"12.30 EUR", "-0.05 USD", "1200 JPY", "1.005 KWD", "0.00 EUR"})
        void isReadAndWrittenAlike(String text) {
            assertEquals(text, Money.parse(text).toString());
        }

        @Test
        void mayHaveFewerDecimalsButNotMore() {
            assertEquals(euro(1250), Money.parse("12.5 EUR"));
            assertEquals(euro(1200), Money.parse("12 EUR"));
            assertThrows(IllegalArgumentException.class, () -> Money.parse("12.345 EUR"));
            assertThrows(IllegalArgumentException.class, () -> Money.parse("12.34"));
        }
    }

    @Nested
    class Arithmetic {
        @Test
        void addsAndSubtracts() {
            assertEquals(euro(150), euro(100).plus(euro(50)));
            assertEquals(euro(-50), euro(50).minus(euro(100)));
            assertTrue(euro(-1).isNegative());
        }

        @Test
        void doesNotMixCurrencies() {
            assertThrows(IllegalArgumentException.class, () -> euro(1).plus(new Money(Currency.USD, 1)));
        }

        @Test
        void splitsWithoutLosingACent() {
            assertEquals(List.of(euro(34), euro(33), euro(33)), euro(100).split(1, 1, 1));
            assertEquals(List.of(euro(-67), euro(-33)), euro(-100).split(2, 1));
            assertThrows(IllegalArgumentException.class, () -> euro(1).split(0));
        }

        @Test
        void compares() {
            assertTrue(euro(2).compareTo(euro(1)) > 0);
        }
    }
}
