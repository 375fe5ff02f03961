package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class CodecsTest {
    @Test
    void works() throws Exception {
        assertEquals("fast", new Codecs().first());
    }
}
