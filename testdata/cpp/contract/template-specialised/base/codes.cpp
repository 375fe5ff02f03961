#include "label.h"

int integer_code() { return Label<int>::code(); }
int character_code() { return Label<char>::code(); }
