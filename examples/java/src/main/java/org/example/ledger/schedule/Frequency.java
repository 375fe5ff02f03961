package org.example.ledger.schedule;

import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalUnit;

/** How often something happens. */
public enum Frequency {
    DAILY(1, ChronoUnit.DAYS),
    WEEKLY(7, ChronoUnit.DAYS),
    MONTHLY(1, ChronoUnit.MONTHS),
    QUARTERLY(3, ChronoUnit.MONTHS),
    YEARLY(1, ChronoUnit.YEARS);

    private final int count;
    private final TemporalUnit unit;

    Frequency(int count, TemporalUnit unit) {
        this.count = count;
        this.unit = unit;
    }

    /** The day of the n-th time, counted from the first day: the 31st stays the 31st where there is one. */
    public LocalDate nth(LocalDate first, int n) {
        return first.plus((long) n * count, unit);
    }
}
