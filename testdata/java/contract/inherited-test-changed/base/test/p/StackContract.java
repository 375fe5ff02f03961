package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

interface StackContract {
    Stack make();

    @Test
    default void isEmpty() {
        assertEquals(0, make().size());
    }
}
