package p;

public class Api {
    public int version() {
        return 1;
    }
}
