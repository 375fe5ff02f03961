package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class LoaderTest {
    @Test
    void works() throws Exception {
        assertEquals("alpha", new Loader().load());
    }
}
