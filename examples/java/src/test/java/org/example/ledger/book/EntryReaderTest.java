package org.example.ledger.book;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.NoSuchElementException;
import org.example.ledger.money.Money;
import org.junit.jupiter.api.Test;

class EntryReaderTest extends Household {
    private final EntryReader reader = new EntryReader(chart);

    @Test
    void aFileOfEntriesIsRead() throws IOException {
        try (Reader file = new InputStreamReader(getClass().getResourceAsStream("january.txt"), StandardCharsets.UTF_8)) {
            List<Entry> entries = reader.read(file);
            assertEquals(List.of("Market", "Two at once"), entries.stream().map(Entry::text).toList());
            assertEquals(new Posting(bank, Money.parse("-31.20 EUR")), entries.get(0).postings().get(1));
            assertEquals(Money.parse("30 EUR"), entries.get(1).volume());
        }
    }

    @Test
    void anUnknownAccountIsNamed() {
        StringReader text = new StringReader("2024-01-02 Market\n food 1 EUR\n bank");
        assertThrows(NoSuchElementException.class, () -> reader.read(text));
    }
}
