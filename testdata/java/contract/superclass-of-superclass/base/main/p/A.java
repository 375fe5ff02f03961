package p;

class A {
    int value() {
        return 1;
    }
}
