package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class BystanderTest {
    @Test
    void works() throws Exception {
        assertEquals(42, new Bystander().answer());
    }
}
