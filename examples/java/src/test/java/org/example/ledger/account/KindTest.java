package org.example.ledger.account;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KindTest {
    @ParameterizedTest
    @EnumSource(names = {"ASSET", "EXPENSE"})
    void debitsLetItGrow(Kind kind) {
        assertEquals(1, kind.sign());
    }

    @ParameterizedTest
    @EnumSource(names = {"LIABILITY", "INCOME", "EQUITY"})
    void creditsLetItGrow(Kind kind) {
        assertEquals(-1, kind.sign());
    }

    @ParameterizedTest
    @EnumSource
    void onlyIncomeAndExpensesStartAnewEachYear(Kind kind) {
        assertEquals(kind != Kind.INCOME && kind != Kind.EXPENSE, kind.isPermanent());
    }
}
