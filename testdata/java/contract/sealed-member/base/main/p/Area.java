package p;

class Area {
    String of(Shape shape) {
        if (shape instanceof Circle circle) {
            return "round " + circle;
        }
        return "square";
    }
}
