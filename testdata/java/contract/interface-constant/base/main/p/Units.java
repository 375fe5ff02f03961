package p;

interface Units {
    int PER_DOZEN = Integer.parseInt("12");
}
