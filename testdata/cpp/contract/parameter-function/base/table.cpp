#include <vector>

std::vector<int> table() { return {2, 4, 8}; }
std::vector<int> other_table() { return {1, 3}; }
