extern "C" {
static int scale_by_two(int x) { return x * 2; }
int (*resolve_scale())(int) { return scale_by_two; }
}

int scale(int x) __attribute__((ifunc("resolve_scale")));
int shift(int x) { return x + 1; }
