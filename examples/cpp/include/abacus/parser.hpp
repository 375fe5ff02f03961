// Reads an expression:
//
//   sum     = product (("+" | "-") product)*
//   product = unary (("*" | "/" | "%") unary)*
//   unary   = "-" unary | power
//   power   = primary ("^" unary)?
//   primary = number | name | name "(" sum ("," sum)* ")" | "(" sum ")"
#pragma once

#include <string_view>

#include "abacus/functions.hpp"
#include "abacus/lexer.hpp"
#include "abacus/node.hpp"

namespace abacus {

// Calls refer to functions, which therefore has to outlive the tree. Throws SyntaxError.
NodePtr parse(std::string_view text, const FunctionTable& functions);

// An expression without calls.
NodePtr parse(std::string_view text);

}  // namespace abacus
