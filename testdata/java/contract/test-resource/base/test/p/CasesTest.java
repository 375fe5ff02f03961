package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class CasesTest {
    @Test
    void works() throws Exception {
        for (int i = 1; i < 2; i++) {
            try (java.io.InputStream stream = CasesTest.class.getResourceAsStream("/cases/case" + i + ".txt")) {
                assertEquals("one", new String(stream.readAllBytes()).trim());
            }
        }
    }
}
