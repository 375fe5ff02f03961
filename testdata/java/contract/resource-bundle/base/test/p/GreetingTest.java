package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class GreetingTest {
    @Test
    void works() throws Exception {
        assertEquals("hello", new Greeting().text());
    }
}
