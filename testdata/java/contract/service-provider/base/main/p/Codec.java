package p;

public interface Codec {
    String name();
}
