package org.example.ledger.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.LocalDate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HolidaysTest {
    private final Holidays holidays = Holidays.common();

    @ParameterizedTest
    @CsvSource({"2024-05-01,false", "2024-05-02,true", "2024-05-04,false", "2024-05-05,false", "2024-12-25,false"})
    void banksWorkOnWorkdays(LocalDate day, boolean expected) {
        assertEquals(expected, holidays.isWorkday(day));
    }

    @Test
    void aDayIsShiftedToTheNextWorkday() {
        LocalDate christmas = LocalDate.of(2024, 12, 25);
        assertEquals(LocalDate.of(2024, 12, 27), Shift.FORWARD.apply(christmas, holidays));
        assertEquals(LocalDate.of(2024, 12, 24), Shift.BACKWARD.apply(christmas, holidays));
        assertEquals(christmas, Shift.NONE.apply(christmas, holidays));
    }
}
