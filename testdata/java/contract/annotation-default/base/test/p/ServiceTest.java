package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ServiceTest {
    @Test
    void works() throws Exception {
        assertEquals(7, new Reader().level(Service.class));
    }
}
