int (*hook)() = nullptr;

int call_hook() { return hook ? hook() : 0; }
int idle() { return 1; }
