package p;

class Shapes {
    int kinds() {
        return Shape.class.getPermittedSubclasses().length;
    }
}
