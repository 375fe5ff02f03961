__attribute__((noinline)) static int origin() { return 3; }

static int root = origin();

int current_root() { return root; }
