package org.example.ledger.money;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CurrencyTest {
    @ParameterizedTest
    @CsvSource({"EUR,100", "USD,100", "JPY,1", "KWD,1000"})
    void aUnitHasSoManySmallestUnits(Currency currency, long unit) {
        assertEquals(unit, currency.unit());
    }

    @Test
    void aCurrencyIsFoundBySymbolAndByCode() {
        assertEquals(Currency.EUR, Currency.of("€"));
        assertEquals(Currency.USD, Currency.of("usd"));
        assertThrows(IllegalArgumentException.class, () -> Currency.of("florin"));
    }
}
