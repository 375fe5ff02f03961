package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ToolTest {
    @Test
    void works() throws Exception {
        assertEquals(3, new Tool().one() + new Tool().two());
    }
}
