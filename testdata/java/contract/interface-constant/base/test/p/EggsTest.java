package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class EggsTest {
    @Test
    void works() throws Exception {
        assertEquals(12, new Eggs().count());
    }
}
