package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class StackTest {
    @Test
    void works() throws Exception {
        assertEquals(Check.expected(), new Stack().size());
    }
}
