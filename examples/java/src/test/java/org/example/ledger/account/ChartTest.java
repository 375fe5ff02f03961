package org.example.ledger.account;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ChartTest {
    private final Chart chart = new Chart();

    @BeforeEach
    void open() {
        chart.open("household:food", Kind.EXPENSE);
        chart.open("bank", Kind.ASSET);
    }

    @Test
    void accountsAboveAreOpenedToo() {
        assertEquals(List.of("bank", "household", "household:food"), chart.all().stream().map(Account::path).toList());
        assertEquals(List.of(chart.get("household:food")), chart.below("household"));
    }

    @Test
    void anAccountKeepsItsKind() {
        assertThrows(IllegalArgumentException.class, () -> chart.open("bank", Kind.EQUITY));
        assertThrows(IllegalArgumentException.class, () -> chart.open("bank:savings", Kind.EQUITY));
    }

    @Test
    void aMisspeltAccountIsRecognised() {
        Exception near = assertThrows(NoSuchElementException.class, () -> chart.get("bnak"));
        assertEquals("no account bnak; did you mean bank?", near.getMessage());
        Exception far = assertThrows(NoSuchElementException.class, () -> chart.get("quite other"));
        assertEquals("no account quite other", far.getMessage());
    }
}
