package p;

class Frame {
    Widget widget() {
        return new Widget();
    }
}
