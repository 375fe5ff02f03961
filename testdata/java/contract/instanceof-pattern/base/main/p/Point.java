package p;

class Point {
    int x() {
        return 1;
    }
}
