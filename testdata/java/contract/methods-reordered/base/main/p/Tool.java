package p;

class Tool {
    int one() {
        return 1;
    }

    int two() {
        return 2;
    }
}
