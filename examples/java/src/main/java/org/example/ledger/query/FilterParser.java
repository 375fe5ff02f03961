package org.example.ledger.query;

import java.util.Locale;
import java.util.Scanner;

/** Reads {@code rent or (over 1000 and not in household)}. */
public final class FilterParser {
    private final Scanner words;
    private String word;

    private FilterParser(String text) {
        words = new Scanner(text.replace("(", " ( ").replace(")", " ) ").toLowerCase(Locale.ROOT));
        advance();
    }

    public static Filter parse(String text) {
        FilterParser parser = new FilterParser(text);
        Filter filter = parser.word.isEmpty() ? new Filter.All() : parser.either();
        if (!parser.word.isEmpty()) {
            throw new IllegalArgumentException("not understood from here: " + parser.word);
        }
        return filter;
    }

    private Filter either() {
        Filter filter = both();
        while (accept("or")) {
            filter = new Filter.Either(filter, both());
        }
        return filter;
    }

    private Filter both() {
        Filter filter = one();
        while (accept("and")) {
            filter = new Filter.Both(filter, one());
        }
        return filter;
    }

    private Filter one() {
        if (accept("not")) {
            return new Filter.Not(one());
        } else if (accept("over")) {
            return new Filter.Amount(Long.parseLong(next()), true);
        } else if (accept("under")) {
            return new Filter.Amount(Long.parseLong(next()), false);
        } else if (accept("in")) {
            return new Filter.Below(next());
        } else if (accept("(")) {
            Filter filter = either();
            if (!accept(")")) {
                throw new IllegalArgumentException("a bracket is not closed");
            }
            return filter;
        }
        return new Filter.Text(next());
    }

    private boolean accept(String expected) {
        if (!word.equals(expected)) {
            return false;
        }
        advance();
        return true;
    }

    private String next() {
        if (word.isEmpty()) {
            throw new IllegalArgumentException("a word is missing at the end");
        }
        String found = word;
        advance();
        return found;
    }

    private void advance() {
        word = words.hasNext() ? words.next() : "";
    }
}
