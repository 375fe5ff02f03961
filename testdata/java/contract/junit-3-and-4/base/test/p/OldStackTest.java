package p;

import junit.framework.TestCase;

public class OldStackTest extends TestCase {
    public void testIsEmpty() {
        assertEquals(0, new Stack().size());
    }
}
