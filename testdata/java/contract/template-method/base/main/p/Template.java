package p;

abstract class Template {
    String render() {
        return header() + "!";
    }

    abstract String header();
}
