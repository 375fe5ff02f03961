package p;

class Printer {
    String print(Object value) {
        return "object";
    }
}
