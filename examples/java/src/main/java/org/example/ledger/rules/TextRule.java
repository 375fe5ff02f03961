package org.example.ledger.rules;

import java.util.ArrayList;
import java.util.List;
import org.example.ledger.book.Entry;

/** Entries say what they are about, and briefly. */
public class TextRule implements Rule {
    private static final int LONGEST = 40;

    @Override
    public List<Violation> check(Entry entry) {
        List<Violation> found = new ArrayList<>();
        if (entry.text().isBlank()) {
            found.add(new Violation(Violation.Severity.WARNING, "an entry of " + entry.date() + " has no text"));
        } else if (!Character.isUpperCase(entry.text().charAt(0))) {
            found.add(new Violation(Violation.Severity.HINT, entry.text() + " begins with a small letter"));
        }
        if (entry.text().length() > longest()) {
            found.add(new Violation(Violation.Severity.HINT, "a text has " + entry.text().length() + " letters"));
        }
        return found;
    }

    protected int longest() {
        return LONGEST;
    }
}
