package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class StackTest {
    @Test
    void works() throws Exception {
        assertEquals(0, new Stack().size());
    }
}
