package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ProbeTest {
    @Test
    void works() throws Exception {
        assertTrue(new Probe().present());
    }
}
