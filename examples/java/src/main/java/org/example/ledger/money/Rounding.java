package org.example.ledger.money;

/** How a fraction of the smallest unit becomes a whole number. */
@FunctionalInterface
public interface Rounding {
    Rounding DOWN = value -> (long) value;
    Rounding HALF_UP = value -> (long) Math.floor(value + 0.5);
    Rounding HALF_EVEN = value -> (long) Math.rint(value);

    long round(double value);

    /** The same, to a multiple of a step. */
    default Rounding toMultipleOf(long step) {
        return value -> round(value / step) * step;
    }
}
