package p;

class User {
    String name() {
        return new Thing().name();
    }
}
