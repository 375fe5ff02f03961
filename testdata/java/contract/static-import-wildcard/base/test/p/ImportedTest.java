package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class ImportedTest {
    @Test
    void works() throws Exception {
        assertEquals(4, new Imported().four());
    }
}
