package p;

class Box {
    int max() {
        return Limits.MAX;
    }
}
