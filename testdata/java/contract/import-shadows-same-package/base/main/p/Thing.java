package p;

class Thing {
    String name() {
        return "q";
    }
}
