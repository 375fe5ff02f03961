package p;

class Registry {
    static int value = 0;
}
