package org.example.ledger.rules;

import java.util.ArrayList;
import java.util.List;
import org.example.ledger.book.Entry;

/** What entries must be like. */
@FunctionalInterface
public interface Rule {
    List<Violation> check(Entry entry);

    static Rule anything() {
        return entry -> List.of();
    }

    /** Both this rule and another. */
    default Rule and(Rule other) {
        return entry -> {
            List<Violation> all = new ArrayList<>(check(entry));
            all.addAll(other.check(entry));
            return all;
        };
    }

    /** Leaves out what matters less. */
    default Rule atLeast(Violation.Severity least) {
        return entry -> check(entry).stream().filter(violation -> violation.isAtLeast(least)).toList();
    }
}
