package p;

class Loader {
    String name() {
        return new StringBuilder("ahplA.snigulp.p").reverse().toString();
    }

    String load() throws Exception {
        return Class.forName(name()).getDeclaredConstructor().newInstance().toString();
    }
}
