#include "limit.h"

int user() { return limit; }
