package org.example.ledger.account;

import java.util.regex.Pattern;

/** An account, named by its path: {@code household:food}. */
public record Account(String path, Kind kind) implements Comparable<Account> {
    private static final Pattern PATH = Pattern.compile("[a-z0-9]+(:[a-z0-9]+)*");

    public Account {
        if (!PATH.matcher(path).matches()) {
            throw new IllegalArgumentException("not a path of an account: " + path);
        }
    }

    public int depth() {
        return (int) path.chars().filter(c -> c == ':').count() + 1;
    }

    public String name() {
        return path.substring(path.lastIndexOf(':') + 1);
    }

    public boolean isBelow(String ancestor) {
        return path.startsWith(ancestor + ":");
    }

    @Override
    public int compareTo(Account other) {
        return path.compareTo(other.path);
    }
}
