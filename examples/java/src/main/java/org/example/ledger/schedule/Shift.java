package org.example.ledger.schedule;

import java.time.LocalDate;

/** What becomes of a day that is no workday. */
public enum Shift {
    NONE(0),
    FORWARD(1),
    BACKWARD(-1);

    private final int step;

    Shift(int step) {
        this.step = step;
    }

    public LocalDate apply(LocalDate day, Holidays holidays) {
        LocalDate shifted = day;
        while (step != 0 && !holidays.isWorkday(shifted)) {
            shifted = shifted.plusDays(step);
        }
        return shifted;
    }
}
