package p;

class Call {
    String on(Animal animal) {
        return animal.sound();
    }
}
