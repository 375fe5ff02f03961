package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class OrderTest {
    @Test
    void works() throws Exception {
        assertEquals(1, Order.first);
    }
}
