extern "C" {
int scale_by_two(int x) { return x * 2; }
int scale_by_three(int x) { return x * 3; }
int (*resolve_scale())(int) { return scale_by_two; }
}

int scale(int x) __attribute__((ifunc("resolve_scale")));
