package p;

public class Fast implements Codec {
    @Override
    public String name() {
        return "fast";
    }
}
