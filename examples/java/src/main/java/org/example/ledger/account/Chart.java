package org.example.ledger.account;

import java.util.Collection;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The chart of accounts: every account that may be posted to. */
public final class Chart {
    private final SortedMap<String, Account> accounts = new TreeMap<>();

    /** Opens an account and those above it, which are of the same kind. */
    public Account open(String path, Kind kind) {
        Account account = new Account(path, kind);
        Account known = accounts.get(path);
        if (known != null && known.kind() != kind) {
            throw new IllegalArgumentException(path + " is an account of kind " + known.kind());
        }
        int end = path.lastIndexOf(':');
        if (end > 0) {
            open(path.substring(0, end), kind);
        }
        accounts.put(path, account);
        return account;
    }

    public Account get(String path) {
        Account account = accounts.get(path);
        if (account == null) {
            String hint = similar(path).map(name -> "; did you mean " + name + "?").orElse("");
            throw new NoSuchElementException("no account " + path + hint);
        }
        return account;
    }

    public List<Account> below(String path) {
        return accounts.values().stream().filter(account -> account.isBelow(path)).toList();
    }

    public Collection<Account> all() {
        return List.copyOf(accounts.values());
    }

    private Optional<String> similar(String path) {
        String best = null;
        int least = 3;
        for (String name : accounts.keySet()) {
            int distance = Distance.between(name, path);
            if (distance < least) {
                least = distance;
                best = name;
            }
        }
        return Optional.ofNullable(best);
    }
}
