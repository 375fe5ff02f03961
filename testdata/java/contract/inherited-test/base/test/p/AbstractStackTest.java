package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

abstract class AbstractStackTest {
    abstract Stack make();

    @Test
    void isEmpty() {
        assertEquals(0, make().size());
    }
}
