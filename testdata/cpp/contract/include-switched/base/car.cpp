#include "fast.h"

int car() { return speed(); }
int wheels() { return 4; }
