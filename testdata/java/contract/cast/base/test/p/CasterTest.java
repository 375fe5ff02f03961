package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class CasterTest {
    @Test
    void works() throws Exception {
        assertEquals("named", new Caster().name(new Thing()));
    }
}
