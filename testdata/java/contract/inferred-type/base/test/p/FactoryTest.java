package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class FactoryTest {
    @Test
    void works() throws Exception {
        var widget = Factory.frame().widget();
        assertEquals("widget", widget.draw());
    }
}
