package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class InspectorTest {
    @Test
    void works() throws Exception {
        assertEquals(1, new Inspector().methods());
    }
}
