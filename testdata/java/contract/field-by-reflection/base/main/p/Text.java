package p;

class Text {
    private final String value = "a";

    String value() {
        return value;
    }
}
