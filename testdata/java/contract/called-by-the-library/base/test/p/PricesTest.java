package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class PricesTest {
    @Test
    void works() throws Exception {
        assertTrue(Prices.contains(5));
    }
}
