package p;

class Zoo {
    Animal first() {
        return new Dog();
    }
}
