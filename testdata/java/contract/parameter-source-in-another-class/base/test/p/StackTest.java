package p;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StackTest {
    @ParameterizedTest
    @MethodSource("q.Sources#sizes")
    void hasSize(int size) {
        assertEquals(size, new Stack().size());
    }
}
