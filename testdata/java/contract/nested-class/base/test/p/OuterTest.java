package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class OuterTest {
    @Test
    void works() throws Exception {
        assertEquals(1, new Outer.Nested().size());
        assertEquals(2, new Outer().inner().size());
    }
}
