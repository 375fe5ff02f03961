package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ApiTest {
    @Test
    void works() throws Exception {
        assertEquals(1, new Api().version());
    }
}
