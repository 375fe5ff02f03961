package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ZooTest {
    @Test
    void works() throws Exception {
        assertEquals("...", new Call().on(new Zoo().first()));
    }
}
