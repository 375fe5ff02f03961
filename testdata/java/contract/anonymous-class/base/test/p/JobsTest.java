package p;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class JobsTest {
    @Test
    void works() throws Exception {
        Jobs jobs = new Jobs();
        assertEquals("anonymouslocallambda", jobs.anonymous().get() + jobs.local() + jobs.lambda().get());
    }
}
