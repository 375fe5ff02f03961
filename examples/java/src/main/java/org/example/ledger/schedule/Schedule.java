package org.example.ledger.schedule;

import java.time.LocalDate;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.example.ledger.account.Account;
import org.example.ledger.book.Entry;
import org.example.ledger.money.Money;

/** Entries that come again and again. */
public record Schedule(LocalDate first, Frequency frequency, Shift shift, Holidays holidays) {
    public Stream<LocalDate> days() {
        return IntStream.iterate(0, n -> n + 1)
                .mapToObj(n -> frequency.nth(first, n))
                .map(day -> shift.apply(day, holidays));
    }

    public List<LocalDate> until(LocalDate last) {
        return days().takeWhile(day -> !day.isAfter(last)).toList();
    }

    /** The payments of an amount from one account to another. */
    public List<Entry> payments(LocalDate last, String text, Account from, Account to, Money amount) {
        return until(last).stream()
                .map(day -> Entry.on(day, text).debit(to, amount).credit(from, amount).build())
                .toList();
    }
}
