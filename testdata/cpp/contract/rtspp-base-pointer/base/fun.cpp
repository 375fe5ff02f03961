#include "abc.h"

int fun(A* a) { return a->foo(); }
