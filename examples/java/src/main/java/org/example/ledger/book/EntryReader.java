package org.example.ledger.book;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.example.ledger.account.Chart;
import org.example.ledger.money.Money;

/** Reads entries from text: a line with date and text, and an indented line per posting; an amount may be left out once. */
public final class EntryReader {
    private final Chart chart;

    public EntryReader(Chart chart) {
        this.chart = chart;
    }

    public List<Entry> read(Reader source) throws IOException {
        List<Entry> entries = new ArrayList<>();
        List<String> block = new ArrayList<>();
        BufferedReader lines = new BufferedReader(source);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (!Character.isWhitespace(line.charAt(0)) && !block.isEmpty()) {
                entries.add(entry(block));
                block.clear();
            }
            block.add(line.strip());
        }
        if (!block.isEmpty()) {
            entries.add(entry(block));
        }
        return entries;
    }

    private Entry entry(List<String> block) {
        String[] head = block.get(0).split("\\s+", 2);
        List<Posting> postings = new ArrayList<>();
        String open = null;
        Money sum = null;
        for (String line : block.subList(1, block.size())) {
            String[] parts = line.split("\\s+", 2);
            if (parts.length == 1) {
                open = parts[0];
                continue;
            }
            Money amount = Money.parse(parts[1]);
            sum = sum == null ? amount : sum.plus(amount);
            postings.add(new Posting(chart.get(parts[0]), amount));
        }
        if (open != null && sum != null) {
            postings.add(new Posting(chart.get(open), sum.negated()));
        }
        return new Entry(LocalDate.parse(head[0]), head.length > 1 ? head[1] : "", postings);
    }
}
