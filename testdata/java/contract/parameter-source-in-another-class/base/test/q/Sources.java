package q;

import java.util.stream.IntStream;

public class Sources {
    public static IntStream sizes() {
        return IntStream.of(0);
    }
}
