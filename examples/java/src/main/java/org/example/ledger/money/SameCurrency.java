package org.example.ledger.money;

import java.util.OptionalDouble;

/** One euro is one euro, whatever others say. */
public class SameCurrency implements RateSource {
    @Override
    public OptionalDouble rate(Currency from, Currency to) {
        return from == to ? OptionalDouble.of(1) : OptionalDouble.empty();
    }

    @Override
    public int priority() {
        return 0;
    }
}
