__attribute__((noinline)) static int draw() { return 42; }
__attribute__((noinline)) static int draw_again() { return 43; }

const int& seed() {
    static const int value = draw();
    return value;
}

const int& salt() {
    static const int value = draw_again();
    return value;
}
