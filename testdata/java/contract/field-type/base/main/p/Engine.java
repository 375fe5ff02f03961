package p;

class Engine {
    void start() {}
}
