package org.example.ledger.table;

import java.util.List;

/** How the rows of a table are written. */
public interface Format {
    String row(List<String> cells, List<Integer> widths);

    /** What stands between the titles and the rows. */
    default String rule(List<Integer> widths) {
        return "";
    }

    /** The format called so, for example {@code Markdown}: a class of this package. */
    static Format named(String name) {
        try {
            Class<?> type = Class.forName("org.example.ledger.table." + name + "Format");
            return (Format) type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException("there is no format " + name, error);
        }
    }
}
