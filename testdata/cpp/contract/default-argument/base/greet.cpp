#include "greet.h"

int greet(int times) { return times * 10; }
