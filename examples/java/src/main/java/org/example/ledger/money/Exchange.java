package org.example.ledger.money;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.ServiceLoader;

/** Converts amounts with the first source that knows a rate. */
public final class Exchange {
    private final List<RateSource> sources;

    public Exchange(List<RateSource> sources) {
        this.sources = sources.stream().sorted(Comparator.comparingInt(RateSource::priority)).toList();
    }

    /** With all sources on the class path. */
    public static Exchange installed() {
        return new Exchange(ServiceLoader.load(RateSource.class).stream().map(ServiceLoader.Provider::get).toList());
    }

    public Money convert(Money amount, Currency to) {
        for (RateSource source : sources) {
            OptionalDouble rate = source.rate(amount.currency(), to);
            if (rate.isPresent()) {
                double units = (double) to.unit() / amount.currency().unit();
                return new Money(to, Rounding.HALF_UP.round(amount.minor() * units * rate.getAsDouble()));
            }
        }
        throw new IllegalStateException("nobody knows a rate from " + amount.currency() + " to " + to);
    }
}
