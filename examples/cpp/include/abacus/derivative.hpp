// Symbolic differentiation. The result is not simplified.
#pragma once

#include <string_view>

#include "abacus/functions.hpp"
#include "abacus/node.hpp"

namespace abacus {

class DerivativeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The derivative by a variable. The derivatives of functions are parsed with the given table.
// Throws DerivativeError where there is no rule.
NodePtr differentiate(const NodePtr& node, std::string_view variable, const FunctionTable& functions);

// The node with every occurrence of the variable replaced.
NodePtr substitute(const NodePtr& node, std::string_view variable, const NodePtr& replacement);

}  // namespace abacus
