package p;

class Doubling {
    static int of(int n) {
        return 2 * n;
    }
}
