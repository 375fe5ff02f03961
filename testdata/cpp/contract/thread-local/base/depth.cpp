thread_local int depth = 3;
thread_local int width = 4;

int next_depth() { return ++depth; }
int next_width() { return ++width; }
