package org.example.ledger.table;

import java.util.List;
import java.util.stream.Collectors;

/** Tables as in Markdown, with columns of the same width. */
class MarkdownFormat implements Format {
    @Override
    public String row(List<String> cells, List<Integer> widths) {
        StringBuilder line = new StringBuilder("|");
        for (int i = 0; i < cells.size(); i++) {
            String cell = cells.get(i);
            line.append(' ').append(cell).append(" ".repeat(widths.get(i) - cell.length())).append(" |");
        }
        return line.toString();
    }

    @Override
    public String rule(List<Integer> widths) {
        return widths.stream().map(width -> "-".repeat(width + 2)).collect(Collectors.joining("|", "|", "|"));
    }
}
