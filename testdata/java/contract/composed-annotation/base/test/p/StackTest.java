package p;

import static org.junit.jupiter.api.Assertions.assertEquals;

class StackTest {
    @Fast
    void isEmpty() {
        assertEquals(0, new Stack().size());
    }
}
