package q;

public class Thing {
    public String name() {
        return "q";
    }
}
