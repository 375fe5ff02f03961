#include <stdexcept>

void fail() { throw std::out_of_range("range"); }
