package p;

enum Signal {
    STOP, GO;

    static Signal parse(String text) {
        return text.startsWith("s") ? STOP : GO;
    }
}
