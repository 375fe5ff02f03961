package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Nested;

class StackTest {
    @Nested
    class WhenNew {
        @Test
        void isEmpty() {
            assertEquals(0, new Stack().size());
        }
    }
}
