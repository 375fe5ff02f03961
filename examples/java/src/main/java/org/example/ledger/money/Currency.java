package org.example.ledger.money;

/** The currencies that amounts can have, with the number of decimals they are written with. */
public enum Currency {
    EUR("€", 2),
    USD("$", 2),
    JPY("¥", 0),
    KWD("KD", 3);

    private final String symbol;
    private final int decimals;

    Currency(String symbol, int decimals) {
        this.symbol = symbol;
        this.decimals = decimals;
    }

    public String symbol() {
        return symbol;
    }

    public int decimals() {
        return decimals;
    }

    /** How many of the smallest units make one. */
    public long unit() {
        long unit = 1;
        for (int i = 0; i < decimals; i++) {
            unit *= 10;
        }
        return unit;
    }

    /** The currency with a symbol or a code. */
    public static Currency of(String name) {
        for (Currency currency : values()) {
            if (currency.symbol.equals(name) || currency.name().equalsIgnoreCase(name)) {
                return currency;
            }
        }
        throw new IllegalArgumentException("no currency is called " + name);
    }
}
