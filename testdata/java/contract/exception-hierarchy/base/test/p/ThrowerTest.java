package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ThrowerTest {
    @Test
    void works() throws Exception {
        assertEquals("other", new Thrower().run());
    }
}
