package p;

class Page extends Template {
    @Override
    String header() {
        return "page";
    }
}
