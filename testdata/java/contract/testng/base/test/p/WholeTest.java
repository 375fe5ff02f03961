package p;

import org.testng.Assert;
import org.testng.annotations.Test;

@Test
public class WholeTest {
    public void isEmpty() {
        Assert.assertEquals(new Stack().size(), 0);
    }
}
