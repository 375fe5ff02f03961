package p;

class Widget {
    String draw() {
        return "widget";
    }
}
