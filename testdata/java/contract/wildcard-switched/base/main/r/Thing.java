package r;

public class Thing {
    public String name() {
        return "r";
    }
}
