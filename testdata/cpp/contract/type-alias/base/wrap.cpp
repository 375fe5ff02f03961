#include "types.h"

int count_after(int n) { return Count(n + 1); }
int size_after(int n) { return Size(n + 1); }
