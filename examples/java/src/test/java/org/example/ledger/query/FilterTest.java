package org.example.ledger.query;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.example.ledger.book.Entry;
import org.example.ledger.book.Household;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FilterTest extends Household {
    private final Entry entry = paid("2024-03-01", "Monthly rent", rent, "800 EUR");

    @ParameterizedTest
    @CsvSource({
        "'',true",
        "rent,true",
        "salary,false",
        "not salary,true",
        "over 80000,true",
        "over 80001,false",
        "under 80000,true",
        "under 79999,false",
        "in household,true",
        "in household:rent,true",
        "in household:food,false",
        "in bank and rent,true",
        "in bank and salary,false",
        "salary or in card or in bank,true"
    })
    void findsEntries(String filter, boolean expected) {
        assertEquals(expected, FilterParser.parse(filter).matches(entry));
    }
}
