package p.sub;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class LeafTest {
    @Test
    void works() throws Exception {
        assertEquals(3, Leaf.class.getPackage().getAnnotation(p.Info.class).level());
    }
}
