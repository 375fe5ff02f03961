package org.example.ledger.book;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.example.ledger.account.Account;
import org.example.ledger.rules.Rule;
import org.example.ledger.rules.Violation;

/** Entries in the order of their days, kept only if they follow the rules. */
public final class Journal implements Iterable<Entry> {
    private final List<Entry> entries = new ArrayList<>();
    private final Rule rule;

    public Journal() {
        this(Rule.anything());
    }

    public Journal(Rule rule) {
        this.rule = rule;
    }

    /** What is wrong with the entry; if nothing is, it is kept. */
    public List<Violation> add(Entry entry) {
        List<Violation> violations = rule.check(entry);
        if (violations.isEmpty()) {
            entries.add(entry);
            entries.sort(Comparator.comparing(Entry::date));
        }
        return violations;
    }

    public List<Entry> between(LocalDate first, LocalDate last) {
        return entries.stream()
                .filter(entry -> !entry.date().isBefore(first) && !entry.date().isAfter(last))
                .toList();
    }

    public List<Entry> of(Account account) {
        return entries.stream().filter(entry -> entry.touches(account)).toList();
    }

    public int size() {
        return entries.size();
    }

    @Override
    public Iterator<Entry> iterator() {
        return List.copyOf(entries).iterator();
    }
}
