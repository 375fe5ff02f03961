package p;

class Check {
    static int expected() {
        return 0;
    }
}
