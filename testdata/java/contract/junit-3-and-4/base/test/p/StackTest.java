package p;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class StackTest {
    @Test
    public void isEmpty() {
        assertEquals(0, new Stack().size());
    }
}
