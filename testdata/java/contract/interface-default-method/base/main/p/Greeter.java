package p;

interface Greeter {
    default String greet() {
        return "hello";
    }
}
