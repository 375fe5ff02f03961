package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Nested;

abstract class StackBase {
    abstract Stack make();

    @Nested
    class WhenNew {
        @Test
        void isEmpty() {
            assertEquals(0, make().size());
        }
    }
}
