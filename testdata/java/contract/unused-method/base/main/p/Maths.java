package p;

class Maths {
    static final int BASE = Integer.parseInt("10");

    static int twice(int n) {
        return n * 2;
    }

    static int thrice(int n) {
        return n * 3;
    }
}
