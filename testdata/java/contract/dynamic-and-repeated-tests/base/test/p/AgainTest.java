package p;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.RepeatedTest;

class AgainTest {
    @RepeatedTest(2)
    void isEmpty() {
        assertEquals(0, new Stack().size());
    }
}
