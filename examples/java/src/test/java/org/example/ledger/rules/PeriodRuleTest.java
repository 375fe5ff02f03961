package org.example.ledger.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PeriodRuleTest implements RuleContract {
    @Override
    public Rule rule() {
        return PeriodRule.year(2024);
    }

    @ParameterizedTest
    @CsvSource({"2023-12-31,1", "2024-01-01,0", "2024-12-31,0", "2025-01-01,1"})
    void theFirstAndTheLastDayBelongToThePeriod(String day, int violations) {
        assertEquals(violations, rule().check(HOUSEHOLD.paid(day, "Market", HOUSEHOLD.food, "1 EUR")).size());
    }
}
