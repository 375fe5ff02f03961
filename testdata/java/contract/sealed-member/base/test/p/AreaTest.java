package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class AreaTest {
    @Test
    void works() throws Exception {
        assertEquals("round circle", new Area().of(new Circle()));
    }
}
