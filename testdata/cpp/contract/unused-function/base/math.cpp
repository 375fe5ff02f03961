int cube(int x) { return x * x * x; }
int half(int x) { return x / 2; }
