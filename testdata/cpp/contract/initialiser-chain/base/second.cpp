int current_root();

static int leaf = current_root() + 1;

int current_leaf() { return leaf; }
