static int booted = 0;

__attribute__((constructor)) static void boot() { booted = 1; }

int is_booted() { return booted; }
int version() { return 2; }
