package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ApplyTest {
    @Test
    void works() throws Exception {
        assertEquals(6, new Apply().twice(3));
    }
}
