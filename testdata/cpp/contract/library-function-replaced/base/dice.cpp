#include <cstdlib>

int roll() { return std::rand() == 4 ? 4 : 1; }
int sides() { return 6; }
