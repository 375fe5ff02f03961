package org.example.ledger.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.example.ledger.money.Money;
import org.example.ledger.rules.Violation.Severity;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SizeRuleTest implements RuleContract {
    @Override
    public Rule rule() {
        return new SizeRule(Money.parse("100 EUR"));
    }

    @ParameterizedTest
    @CsvSource({"100 EUR,", "100.01 EUR,WARNING", "1000 EUR,WARNING", "1000.01 EUR,ERROR"})
    void moreIsWorse(String amount, Severity severity) {
        List<Severity> found = rule().check(HOUSEHOLD.paid("2024-01-01", "Sofa", HOUSEHOLD.rent, amount)).stream()
                .map(Violation::severity)
                .toList();
        assertEquals(severity == null ? List.of() : List.of(severity), found);
    }
}
