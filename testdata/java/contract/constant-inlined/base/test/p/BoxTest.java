package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class BoxTest {
    @Test
    void works() throws Exception {
        assertEquals(1, new Box().max());
    }
}
