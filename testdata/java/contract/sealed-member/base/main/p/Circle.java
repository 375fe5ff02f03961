package p;

final class Circle implements Shape {
    @Override
    public String toString() {
        return "circle";
    }
}
