package p;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class StackTest {
    @TestFactory
    Stream<DynamicTest> sizes() {
        return Stream.of(DynamicTest.dynamicTest("empty", () -> assertEquals(0, new Stack().size())));
    }
}
