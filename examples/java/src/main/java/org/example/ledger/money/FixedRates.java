package org.example.ledger.money;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.OptionalDouble;
import java.util.Properties;

/** Rates from a file beside this class: how many units of a currency one euro buys. */
public class FixedRates implements RateSource {
    private static final String FILE = "rates.properties";

    private final Properties rates = new Properties();

    public FixedRates() {
        try (InputStream file = FixedRates.class.getResourceAsStream(FILE)) {
            rates.load(file);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public OptionalDouble rate(Currency from, Currency to) {
        String first = rates.getProperty(from.name());
        String second = rates.getProperty(to.name());
        if (first == null || second == null) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(Double.parseDouble(second) / Double.parseDouble(first));
    }
}
