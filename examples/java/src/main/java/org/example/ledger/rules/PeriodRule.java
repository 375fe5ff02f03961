package org.example.ledger.rules;

import java.time.LocalDate;
import java.util.List;
import org.example.ledger.book.Entry;

/** Entries belong to a period, its last day included. */
public record PeriodRule(LocalDate first, LocalDate last) implements Rule {
    public static PeriodRule year(int year) {
        return new PeriodRule(LocalDate.of(year, 1, 1), LocalDate.of(year, 12, 31));
    }

    @Override
    public List<Violation> check(Entry entry) {
        if (entry.date().isBefore(first) || entry.date().isAfter(last)) {
            String text = entry.text() + " of " + entry.date() + " is not between " + first + " and " + last;
            return List.of(new Violation(Violation.Severity.ERROR, text));
        }
        return List.of();
    }
}
