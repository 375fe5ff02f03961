package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class BookTest {
    @Test
    void works() throws Exception {
        assertEquals("rule", new Book<>(new Strict()).read());
    }
}
