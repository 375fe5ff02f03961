package p;

class Palette {
    String first() {
        return Color.RED.label;
    }
}
