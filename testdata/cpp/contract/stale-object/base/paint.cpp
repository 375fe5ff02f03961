__attribute__((weak)) int colour() { return 1; }
__attribute__((noinline)) int paint() { return colour() * 10; }
int canvas() { return 4; }
