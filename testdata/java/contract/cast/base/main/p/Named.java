package p;

abstract class Named {
    String name() {
        return "named";
    }
}
