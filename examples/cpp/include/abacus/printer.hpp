// Writes a tree as text that parses to an equal expression, with no more parentheses than that takes.
#pragma once

#include <string>

#include "abacus/node.hpp"

namespace abacus {

std::string to_string(const Node& node);

}  // namespace abacus
