package q;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ThingTest {
    @Test
    void works() throws Exception {
        assertEquals("other", new Thing().name());
    }
}
