package p;

abstract class Rule {
    String text() {
        return "rule";
    }
}
