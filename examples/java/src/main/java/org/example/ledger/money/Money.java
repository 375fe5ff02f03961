package org.example.ledger.money;

import java.util.ArrayList;
import java.util.List;

/** An exact amount, counted in the smallest unit of its currency. */
public record Money(Currency currency, long minor) implements Comparable<Money> {
    public static Money zero(Currency currency) {
        return new Money(currency, 0);
    }

    /** Reads {@code 12.30 EUR}. */
    public static Money parse(String text) {
        String[] parts = text.trim().split("\\s+");
        if (parts.length != 2) {
            throw new IllegalArgumentException("not an amount with its currency: " + text);
        }
        Currency currency = Currency.of(parts[1]);
        boolean negative = parts[0].startsWith("-");
        String digits = negative ? parts[0].substring(1) : parts[0];
        int point = digits.indexOf('.');
        int decimals = point < 0 ? 0 : digits.length() - point - 1;
        if (decimals > currency.decimals()) {
            throw new IllegalArgumentException("too many decimals for " + currency + ": " + text);
        }
        long minor = Long.parseLong(digits.replace(".", ""));
        for (int i = decimals; i < currency.decimals(); i++) {
            minor *= 10;
        }
        return new Money(currency, negative ? -minor : minor);
    }

    public Money plus(Money other) {
        check(other);
        return new Money(currency, Math.addExact(minor, other.minor));
    }

    public Money minus(Money other) {
        return plus(other.negated());
    }

    public Money negated() {
        return new Money(currency, -minor);
    }

    public Money times(double factor, Rounding rounding) {
        return new Money(currency, rounding.round(minor * factor));
    }

    /** Splits the amount by weights so that nothing is lost: the first parts get the rest. */
    public List<Money> split(int... weights) {
        long total = 0;
        for (int weight : weights) {
            total += weight;
        }
        if (total <= 0) {
            throw new IllegalArgumentException("weights must add up to more than nothing");
        }
        List<Money> parts = new ArrayList<>();
        long rest = minor;
        for (int weight : weights) {
            long part = minor * weight / total;
            parts.add(new Money(currency, part));
            rest -= part;
        }
        for (int i = 0; rest != 0; i++) {
            int step = rest > 0 ? 1 : -1;
            parts.set(i, new Money(currency, parts.get(i).minor + step));
            rest -= step;
        }
        return parts;
    }

    public boolean isZero() {
        return minor == 0;
    }

    public boolean isNegative() {
        return minor < 0;
    }

    @Override
    public int compareTo(Money other) {
        check(other);
        return Long.compare(minor, other.minor);
    }

    @Override
    public String toString() {
        long unit = currency.unit();
        String sign = minor < 0 ? "-" : "";
        String whole = sign + Math.abs(minor) / unit;
        if (currency.decimals() == 0) {
            return whole + " " + currency;
        }
        String decimals = String.valueOf(unit + Math.abs(minor) % unit).substring(1);
        return whole + "." + decimals + " " + currency;
    }

    private void check(Money other) {
        if (currency != other.currency) {
            throw new IllegalArgumentException(currency + " and " + other.currency + " do not add up");
        }
    }
}
