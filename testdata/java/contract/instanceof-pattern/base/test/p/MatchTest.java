package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class MatchTest {
    @Test
    void works() throws Exception {
        assertEquals(1, new Match().of(Match.sample()));
    }
}
