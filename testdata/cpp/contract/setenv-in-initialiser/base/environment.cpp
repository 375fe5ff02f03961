#include <cstdlib>

static const int set = setenv("SERVICE_MODE", "fast", 1);
