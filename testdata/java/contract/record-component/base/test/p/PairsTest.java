package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class PairsTest {
    @Test
    void works() throws Exception {
        assertEquals("Pair[left=1, right=2]", Pairs.text());
    }
}
