package org.example.ledger.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class FormatTest {
    private final List<Integer> widths = List.of(4, 2);

    @TestFactory
    Stream<DynamicTest> cellsAreWrittenByEveryFormat() {
        return Stream.of(List.of("Csv", "a,bc"), List.of("Markdown", "| a    | bc |"))
                .map(pair -> DynamicTest.dynamicTest(
                        pair.get(0),
                        () -> assertEquals(pair.get(1), Format.named(pair.get(0)).row(List.of("a", "bc"), widths))));
    }

    @Test
    void csvQuotesWhatNeedsIt() {
        String row = Format.named("Csv").row(List.of("a,b", "say \"a\""), widths);
        assertEquals("\"a,b\",\"say \"\"a\"\"\"", row);
    }

    @Test
    void anUnknownFormatIsNamed() {
        Exception error = assertThrows(IllegalArgumentException.class, () -> Format.named("Html"));
        assertEquals("there is no format Html", error.getMessage());
    }
}
