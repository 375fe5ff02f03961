#include "level.h"

int low() { return LOW; }
int high() { return HIGH; }
