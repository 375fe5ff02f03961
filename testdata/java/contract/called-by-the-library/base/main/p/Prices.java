package p;

class Prices {
    static boolean contains(int cents) {
        return java.util.List.of(new Price(5)).contains(new Price(cents));
    }
}
