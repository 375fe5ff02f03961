package p;

class Book<T extends Rule> {
    private final T rule;

    Book(T rule) {
        this.rule = rule;
    }

    String read() {
        return rule.text();
    }
}
