package org.example.ledger.table;

import java.util.List;
import java.util.stream.Collectors;

/** Values separated by commas. */
class CsvFormat implements Format {
    @Override
    public String row(List<String> cells, List<Integer> widths) {
        return cells.stream().map(CsvFormat::quoted).collect(Collectors.joining(","));
    }

    private static String quoted(String cell) {
        if (cell.contains(",") || cell.contains("\"")) {
            return "\"" + cell.replace("\"", "\"\"") + "\"";
        }
        return cell;
    }
}
