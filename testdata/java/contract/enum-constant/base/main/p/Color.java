package p;

enum Color {
    RED("r"),
    BLUE("b");

    final String label;

    Color(String label) {
        this.label = label;
    }
}
