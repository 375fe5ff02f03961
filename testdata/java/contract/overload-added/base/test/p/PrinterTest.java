package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class PrinterTest {
    @Test
    void works() throws Exception {
        assertEquals("object", new Printer().print("text"));
    }
}
