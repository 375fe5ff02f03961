package org.example.ledger.money;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class ExchangeTest {
    private final Exchange exchange = Exchange.installed();

    @Test
    void convertsWithTheInstalledRates() {
        assertEquals(Money.parse("12.50 USD"), exchange.convert(Money.parse("10 EUR"), Currency.USD));
        assertEquals(Money.parse("128 JPY"), exchange.convert(Money.parse("1 USD"), Currency.JPY));
    }

    @Test
    void aCurrencyWithoutRateIsStillWorthItself() {
        Money dinar = Money.parse("1.500 KWD");
        assertEquals(dinar, exchange.convert(dinar, Currency.KWD));
        assertThrows(IllegalStateException.class, () -> exchange.convert(dinar, Currency.EUR));
    }

    @Test
    void theSourceWithTheLowestNumberIsAskedFirst() {
        RateSource late = (from, to) -> OptionalDouble.of(3);
        Exchange both = new Exchange(List.of(late, new SameCurrency()));
        assertEquals(Money.parse("1 EUR"), both.convert(Money.parse("1 EUR"), Currency.EUR));
        assertEquals(Money.parse("3 USD"), both.convert(Money.parse("1 EUR"), Currency.USD));
    }
}
