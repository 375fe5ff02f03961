package p;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class Doubled {
    @Test
    public void works() {
        assertEquals(4, Doubling.of(2));
    }
}
