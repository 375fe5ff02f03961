package org.example.ledger.rules;

import java.util.List;
import org.example.ledger.book.Entry;

/** Hints count as errors, and less is long. */
public class StrictTextRule extends TextRule {
    @Override
    public List<Violation> check(Entry entry) {
        return super.check(entry).stream()
                .map(violation -> new Violation(Violation.Severity.ERROR, violation.text()))
                .toList();
    }

    @Override
    protected int longest() {
        return super.longest() / 2;
    }
}
