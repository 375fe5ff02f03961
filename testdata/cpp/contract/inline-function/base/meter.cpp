#include "clamp.h"

int meter(int x) { return clamp(x); }
int doubled(int x) { return twice(x); }
