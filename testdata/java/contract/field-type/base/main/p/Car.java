package p;

class Car {
    Engine engine;
}
