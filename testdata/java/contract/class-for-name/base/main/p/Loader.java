package p;

class Loader {
    String load() throws Exception {
        return Class.forName("p.plugins.Alpha").getDeclaredConstructor().newInstance().toString();
    }
}
