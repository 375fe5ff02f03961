package org.example.ledger.account;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DistanceTest {
    @ParameterizedTest
    @CsvSource({"kitten,sitting,3", "bank,bank,0", "'',abc,3", "abc,'',3", "ab,ba,2"})
    void countsLettersToChange(String first, String second, int distance) {
        assertEquals(distance, Distance.between(first, second));
    }
}
