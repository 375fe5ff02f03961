package p;

class Match {
    int of(Object object) {
        return object instanceof Point point ? point.x() : 0;
    }

    static Object sample() {
        return new Point();
    }
}
