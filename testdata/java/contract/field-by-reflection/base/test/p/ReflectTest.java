package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ReflectTest {
    @Test
    void works() throws Exception {
        assertEquals("a", Reflect.read(new Text(), "value"));
    }
}
