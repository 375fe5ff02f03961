package p;

public class Slow implements Codec {
    @Override
    public String name() {
        return "slow";
    }
}
