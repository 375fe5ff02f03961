#include <stdexcept>

void parse() { throw std::invalid_argument("parse"); }
void load() { throw std::runtime_error("load"); }
