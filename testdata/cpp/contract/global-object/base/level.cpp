#include "config.h"

int level() { return config.level; }
