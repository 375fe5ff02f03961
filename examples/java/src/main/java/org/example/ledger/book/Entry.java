package org.example.ledger.book;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.example.ledger.account.Account;
import org.example.ledger.money.Money;

/** Postings of one day that add up to nothing. */
public record Entry(LocalDate date, String text, List<Posting> postings) {
    public Entry {
        postings = List.copyOf(postings);
        if (postings.size() < 2) {
            throw new UnbalancedException("an entry has at least two postings: " + text, postings.size());
        }
        Money sum = Money.zero(postings.get(0).amount().currency());
        for (Posting posting : postings) {
            sum = sum.plus(posting.amount());
        }
        if (!sum.isZero()) {
            throw new UnbalancedException(text + " is off by " + sum, sum.minor());
        }
    }

    public static Builder on(LocalDate date, String text) {
        return new Builder(date, text);
    }

    /** The sum of all debits. */
    public Money volume() {
        Money sum = Money.zero(postings.get(0).amount().currency());
        for (Posting posting : postings) {
            if (posting.isDebit()) {
                sum = sum.plus(posting.amount());
            }
        }
        return sum;
    }

    public boolean touches(Account account) {
        return postings.stream().anyMatch(posting -> posting.account().equals(account));
    }

    /** Collects postings. */
    public static final class Builder {
        private final LocalDate date;
        private final String text;
        private final List<Posting> postings = new ArrayList<>();

        private Builder(LocalDate date, String text) {
            this.date = date;
            this.text = text;
        }

        public Builder debit(Account account, Money amount) {
            postings.add(new Posting(account, amount));
            return this;
        }

        public Builder credit(Account account, Money amount) {
            postings.add(new Posting(account, amount.negated()));
            return this;
        }

        public Entry build() {
            return new Entry(date, text, postings);
        }
    }
}
