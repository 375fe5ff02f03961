package org.example.ledger.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.example.ledger.loan.Instalment;
import org.example.ledger.loan.Loan;
import org.example.ledger.loan.Plan;
import org.example.ledger.money.Money;
import org.example.ledger.money.Rounding;
import org.junit.jupiter.api.Test;

class TableTest {
    private final Table<Instalment> table = new Table<>(Instalment.class);
    private final List<Instalment> instalments =
            new Plan(new Loan(Money.parse("100 EUR"), 0.12, 2), Rounding.HALF_UP).instalments();

    @Test
    void recordsBecomeRowsOfMarkdown() {
        String expected = String.join(
                "\n",
                "| month | interest | repaid    |",
                "|-------|----------|-----------|",
                "| 1     | 1.00 EUR | 49.75 EUR |",
                "| 2     | 0.50 EUR | 50.25 EUR |",
                "");
        assertEquals(expected, table.write(instalments, Format.named("Markdown")));
    }

    @Test
    void recordsBecomeLinesOfCsv() {
        String expected = "month,interest,repaid\n1,1.00 EUR,49.75 EUR\n2,0.50 EUR,50.25 EUR\n";
        assertEquals(expected, table.write(instalments, Format.named("Csv")));
    }

    @Test
    void aRecordWithoutColumnsIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Table<>(Loan.class));
    }
}
