#include "greeting.h"

std::string greet() { return greeting + "!"; }
int count() { return 1; }
