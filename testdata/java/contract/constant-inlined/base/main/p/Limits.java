package p;

class Limits {
    static final int MAX = 1;
}
