package p;

import static org.testng.Assert.assertEquals;

import org.testng.annotations.Test;

public class StackTest {
    @Test
    public void isEmpty() {
        assertEquals(new Stack().size(), 0);
    }
}
