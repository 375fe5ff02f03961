package p;

class Pairs {
    static String text() {
        return new Pair(1, 2).toString();
    }
}
