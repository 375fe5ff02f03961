#include "metre.h"

Metre::operator int() const { return value * 100; }
Foot::operator int() const { return value * 30; }
