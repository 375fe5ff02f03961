package org.example.ledger.table;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Writes records whose components are marked as columns. */
public final class Table<R extends Record> {
    private final List<RecordComponent> columns;

    public Table(Class<R> type) {
        columns = Stream.of(type.getRecordComponents()).filter(Table::isShown).toList();
        if (columns.isEmpty()) {
            throw new IllegalArgumentException(type.getSimpleName() + " has no columns");
        }
    }

    public String write(List<R> records, Format format) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(columns.stream().map(column -> column.getAnnotation(Column.class).title()).toList());
        for (R record : records) {
            rows.add(columns.stream().map(column -> value(column, record)).toList());
        }
        List<Integer> widths = widths(rows);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            text.append(format.row(rows.get(i), widths)).append('\n');
            String rule = format.rule(widths);
            if (i == 0 && !rule.isEmpty()) {
                text.append(rule).append('\n');
            }
        }
        return text.toString();
    }

    private List<Integer> widths(List<List<String>> rows) {
        List<Integer> widths = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            int width = columns.get(i).getAnnotation(Column.class).width();
            for (List<String> row : rows) {
                width = Math.max(width, row.get(i).length());
            }
            widths.add(width);
        }
        return widths;
    }

    private static boolean isShown(RecordComponent component) {
        Column column = component.getAnnotation(Column.class);
        return column != null && !column.hidden();
    }

    private static String value(RecordComponent column, Record record) {
        try {
            return String.valueOf(column.getAccessor().invoke(record));
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
