#include "abacus/parser.hpp"

namespace abacus {
namespace {

constexpr int max_depth = 100;

class Parser {
 public:
  Parser(std::string_view text, const FunctionTable& functions)
      : lexer_(text), functions_(functions), token_(lexer_.next()) {}

  NodePtr parse_all() {
    NodePtr node = parse_sum();
    if (token_.kind != TokenKind::End) {
      throw SyntaxError("expected an operator before '" + std::string(token_.text) + "'", token_.position);
    }
    return node;
  }

 private:
  NodePtr parse_sum() {
    NodePtr left = parse_product();
    while (true) {
      if (accept(TokenKind::Plus)) {
        left = make_binary(Operator::Add, left, parse_product());
      } else if (accept(TokenKind::Minus)) {
        left = make_binary(Operator::Subtract, left, parse_product());
      } else {
        return left;
      }
    }
  }

  NodePtr parse_product() {
    NodePtr left = parse_unary();
    while (true) {
      if (accept(TokenKind::Star)) {
        left = make_binary(Operator::Multiply, left, parse_unary());
      } else if (accept(TokenKind::Slash)) {
        left = make_binary(Operator::Divide, left, parse_unary());
      } else if (accept(TokenKind::Percent)) {
        left = make_binary(Operator::Remainder, left, parse_unary());
      } else {
        return left;
      }
    }
  }

  // Every way to nest goes through here, so this is the place to limit the depth of the recursion.
  NodePtr parse_unary() {
    if (depth_ == max_depth) {
      throw SyntaxError("nested too deeply", token_.position);
    }
    ++depth_;
    NodePtr node = accept(TokenKind::Minus) ? make_negation(parse_unary()) : parse_power();
    --depth_;
    return node;
  }

  NodePtr parse_power() {
    NodePtr base = parse_primary();
    return accept(TokenKind::Caret) ? make_binary(Operator::Power, base, parse_unary()) : base;
  }

  NodePtr parse_primary() {
    const Token token = token_;
    if (accept(TokenKind::Number)) {
      return make_number(token.number);
    }
    if (accept(TokenKind::Name)) {
      return accept(TokenKind::LeftParenthesis) ? parse_call(token) : make_variable(token.text);
    }
    if (accept(TokenKind::LeftParenthesis)) {
      NodePtr node = parse_sum();
      expect(TokenKind::RightParenthesis, "expected ')'");
      return node;
    }
    throw SyntaxError("expected a number, a name or '('", token.position);
  }

  // Behind the opening parenthesis.
  NodePtr parse_call(const Token& name) {
    const Function* function = functions_.find(name.text);
    if (function == nullptr) {
      throw SyntaxError("unknown function '" + std::string(name.text) + "'", name.position);
    }
    std::vector<NodePtr> arguments;
    do {
      arguments.push_back(parse_sum());
    } while (accept(TokenKind::Comma));
    expect(TokenKind::RightParenthesis, "expected ',' or ')'");
    if (function->arity != Function::any_number && function->arity != arguments.size()) {
      throw SyntaxError("'" + std::string(name.text) + "' takes " + std::to_string(function->arity) +
                            " arguments, not " + std::to_string(arguments.size()),
                        name.position);
    }
    return make_call(*function, std::move(arguments));
  }

  bool accept(TokenKind kind) {
    const bool matches = token_.kind == kind;
    if (matches) {
      token_ = lexer_.next();
    }
    return matches;
  }

  void expect(TokenKind kind, const char* message) {
    if (!accept(kind)) {
      throw SyntaxError(message, token_.position);
    }
  }

  Lexer lexer_;
  const FunctionTable& functions_;
  Token token_;
  int depth_ = 0;
};

}  // namespace

NodePtr parse(std::string_view text, const FunctionTable& functions) { return Parser(text, functions).parse_all(); }

NodePtr parse(std::string_view text) { return parse(text, FunctionTable()); }

}  // namespace abacus
