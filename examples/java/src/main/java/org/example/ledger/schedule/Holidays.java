package org.example.ledger.schedule;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.MonthDay;
import java.util.Set;

/** Days on which banks do not work. */
public class Holidays {
    private final Set<MonthDay> days;

    public Holidays(Set<MonthDay> days) {
        this.days = Set.copyOf(days);
    }

    public static Holidays common() {
        return new Holidays(Set.of(MonthDay.of(1, 1), MonthDay.of(5, 1), MonthDay.of(12, 25), MonthDay.of(12, 26)));
    }

    public boolean isWorkday(LocalDate day) {
        return day.getDayOfWeek() != DayOfWeek.SATURDAY
                && day.getDayOfWeek() != DayOfWeek.SUNDAY
                && !days.contains(MonthDay.from(day));
    }
}
