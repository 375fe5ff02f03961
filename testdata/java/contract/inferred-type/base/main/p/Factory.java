package p;

class Factory {
    static Frame frame() {
        return new Frame();
    }
}
