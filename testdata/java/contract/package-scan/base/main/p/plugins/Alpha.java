package p.plugins;

public class Alpha {
    @Override
    public String toString() {
        return "alpha";
    }
}
