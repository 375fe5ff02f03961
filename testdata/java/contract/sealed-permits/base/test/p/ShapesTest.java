package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ShapesTest {
    @Test
    void works() throws Exception {
        assertEquals(2, new Shapes().kinds());
    }
}
