package org.example.ledger.rules;

/** What is wrong with an entry, and how much that matters. */
public record Violation(Severity severity, String text) {
    /** From the least to the most severe. */
    public enum Severity {
        HINT,
        WARNING,
        ERROR
    }

    public boolean isAtLeast(Severity least) {
        return severity.compareTo(least) >= 0;
    }
}
