package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class PaletteTest {
    @Test
    void works() throws Exception {
        assertEquals("r", new Palette().first());
    }
}
