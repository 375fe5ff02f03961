package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ControlTest {
    @Test
    void works() throws Exception {
        assertEquals(0, new Control().speed("stop"));
    }
}
