#include "clock.h"

int now() { return 2; }
