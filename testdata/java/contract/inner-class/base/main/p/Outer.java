package p;

class Outer {
    static class Nested {
        int size() {
            return 1;
        }
    }

    class Inner {
        int size() {
            return 2;
        }
    }

    Inner inner() {
        return new Inner();
    }
}
