package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class CountTest {
    @Test
    void works() throws Exception {
        assertEquals(2, new Count().colors());
    }
}
