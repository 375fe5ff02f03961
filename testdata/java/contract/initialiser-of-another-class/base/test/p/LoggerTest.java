package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class LoggerTest {
    @Test
    void works() throws Exception {
        Logger.touch();
        assertEquals(5, Registry.value);
    }
}
