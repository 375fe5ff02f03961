package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;
import q.Stack;

class StackTest {
    @Test
    void works() throws Exception {
        assertEquals("q.Stack", new Stack().getClass().getName());
    }
}
