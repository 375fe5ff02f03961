package org.example.ledger.rules;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.example.ledger.rules.Violation.Severity;
import org.junit.jupiter.api.Test;

class ViolationTest {
    @Test
    void severitiesAreOrdered() {
        Violation warning = new Violation(Severity.WARNING, "look");
        assertTrue(warning.isAtLeast(Severity.HINT));
        assertTrue(warning.isAtLeast(Severity.WARNING));
        assertFalse(warning.isAtLeast(Severity.ERROR));
    }
}
