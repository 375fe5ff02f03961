package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class SiteTest {
    @Test
    void works() throws Exception {
        assertEquals("page!", Site.home().render());
    }
}
