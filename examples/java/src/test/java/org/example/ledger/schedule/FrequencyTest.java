package org.example.ledger.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.LocalDate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrequencyTest {
    @ParameterizedTest
    @CsvSource({"DAILY,2024-02-03", "WEEKLY,2024-02-15", "MONTHLY,2024-04-01", "QUARTERLY,2024-08-01", "YEARLY,2026-02-01"})
    void theSecondTimeAfterTheFirst(Frequency frequency, LocalDate expected) {
        assertEquals(expected, frequency.nth(LocalDate.of(2024, 2, 1), 2));
    }
}
