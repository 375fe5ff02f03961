// Rewrites an expression into a shorter one with the same value: folds operations on literals and drops what is
// neutral (x + 0, x * 1, x ^ 1, double negation).
#pragma once

#include "abacus/node.hpp"

namespace abacus {

NodePtr simplify(const NodePtr& node);

}  // namespace abacus
