package org.example.ledger.query;

import org.example.ledger.book.Entry;

/** Which entries are looked for. */
public sealed interface Filter permits Filter.All, Filter.Both, Filter.Either, Filter.Not, Filter.Text, Filter.Amount, Filter.Below {
    record All() implements Filter {}

    record Both(Filter left, Filter right) implements Filter {}

    record Either(Filter left, Filter right) implements Filter {}

    record Not(Filter filter) implements Filter {}

    record Text(String part) implements Filter {}

    /** Of at least or at most so many of the smallest units. */
    record Amount(long minor, boolean atLeast) implements Filter {}

    /** On an account or one below it. */
    record Below(String path) implements Filter {}

    default boolean matches(Entry entry) {
        if (this instanceof Both both) {
            return both.left().matches(entry) && both.right().matches(entry);
        } else if (this instanceof Either either) {
            return either.left().matches(entry) || either.right().matches(entry);
        } else if (this instanceof Not not) {
            return !not.filter().matches(entry);
        } else if (this instanceof Text text) {
            return entry.text().toLowerCase().contains(text.part());
        } else if (this instanceof Amount amount) {
            long volume = entry.volume().minor();
            return amount.atLeast() ? volume >= amount.minor() : volume <= amount.minor();
        } else if (this instanceof Below below) {
            return entry.postings().stream()
                    .map(posting -> posting.account())
                    .anyMatch(account -> account.path().equals(below.path()) || account.isBelow(below.path()));
        }
        return true;
    }
}
