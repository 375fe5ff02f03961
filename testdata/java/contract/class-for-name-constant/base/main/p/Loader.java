package p;

class Loader {
    String load() throws Exception {
        return Class.forName(Names.ALPHA).getDeclaredConstructor().newInstance().toString();
    }
}
