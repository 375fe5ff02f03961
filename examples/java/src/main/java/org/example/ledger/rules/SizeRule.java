package org.example.ledger.rules;

import java.util.List;
import org.example.ledger.book.Entry;
import org.example.ledger.money.Money;

/** Entries of more than a limit need a second look; ten times as much is not believed. */
public record SizeRule(Money limit) implements Rule {
    private static final int FAR_TOO_MUCH = 10;

    @Override
    public List<Violation> check(Entry entry) {
        long volume = entry.volume().minor();
        if (volume > limit.minor() * FAR_TOO_MUCH) {
            return List.of(new Violation(Violation.Severity.ERROR, entry.text() + " is far above " + limit));
        }
        if (volume > limit.minor()) {
            return List.of(new Violation(Violation.Severity.WARNING, entry.text() + " is above " + limit));
        }
        return List.of();
    }
}
