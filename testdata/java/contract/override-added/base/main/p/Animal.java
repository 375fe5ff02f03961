package p;

class Animal {
    String sound() {
        return "...";
    }
}
