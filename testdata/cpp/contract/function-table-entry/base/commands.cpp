__attribute__((noinline)) int red() { return 1; }
__attribute__((noinline)) int blue() { return 2; }

extern int (*const colours[])();
int (*const colours[])() = {red, blue};

int colour(unsigned index) { return colours[index % 2](); }
