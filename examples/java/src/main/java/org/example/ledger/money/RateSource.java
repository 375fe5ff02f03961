package org.example.ledger.money;

import java.util.OptionalDouble;

/** Where exchange rates come from; implementations are found as services. */
public interface RateSource {
    /** How many units of the second currency one unit of the first buys. */
    OptionalDouble rate(Currency from, Currency to);

    /** Sources with a lower number are asked first. */
    default int priority() {
        return 100;
    }
}
