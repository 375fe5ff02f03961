package org.example.ledger.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.LocalDate;
import java.util.List;
import org.example.ledger.book.Entry;
import org.example.ledger.book.Household;
import org.example.ledger.money.Money;
import org.junit.jupiter.api.Test;

class ScheduleTest extends Household {
    private final LocalDate first = LocalDate.of(2024, 1, 31);
    private final LocalDate last = LocalDate.of(2024, 4, 30);

    @Test
    void theLastOfTheMonthStaysTheLast() {
        Schedule schedule = new Schedule(first, Frequency.MONTHLY, Shift.NONE, Holidays.common());
        List<String> expected = List.of("2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30");
        assertEquals(expected, schedule.until(last).stream().map(LocalDate::toString).toList());
    }

    @Test
    void paymentsAreMadeOnWorkdays() {
        Schedule schedule = new Schedule(first, Frequency.MONTHLY, Shift.BACKWARD, Holidays.common());
        List<Entry> payments = schedule.payments(last, "Rent", bank, rent, Money.parse("800 EUR"));
        assertEquals(4, payments.size());
        assertEquals(LocalDate.of(2024, 3, 29), payments.get(2).date());
        assertEquals(paid("2024-01-31", "Rent", rent, "800 EUR"), payments.get(0));
    }
}
