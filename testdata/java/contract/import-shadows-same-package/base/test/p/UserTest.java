package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class UserTest {
    @Test
    void works() throws Exception {
        assertEquals("q", new User().name());
    }
}
