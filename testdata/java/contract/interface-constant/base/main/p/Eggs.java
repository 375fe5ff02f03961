package p;

class Eggs implements Units {
    int count() {
        return PER_DOZEN;
    }
}
