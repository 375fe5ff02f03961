package p;

class Settings {
    static int level = Integer.parseInt("3");

    static {
        Registry.value = 5;
    }
}
