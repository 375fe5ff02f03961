package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class StarredTest {
    @Test
    void works() throws Exception {
        assertEquals(10, new Starred().base());
    }
}
