#include "counter.h"

int slow_speed() { return Slow().twice(); }
int fast_speed() { return Fast().twice(); }
