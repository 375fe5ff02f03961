#include "clock.h"

int now() { return 1; }
