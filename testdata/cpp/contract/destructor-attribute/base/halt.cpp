#include <unistd.h>

int halts = 0;

__attribute__((destructor)) static void halt() { ++halts; }
