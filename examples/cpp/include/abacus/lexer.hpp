// Splits the text of an expression into tokens.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace abacus {

enum class TokenKind {
  Number,
  Name,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Caret,
  LeftParenthesis,
  RightParenthesis,
  Comma,
  End,
};

struct Token {
  TokenKind kind;
  std::string_view text;
  std::size_t position;
  double number;  // of a Number, otherwise 0
};

// The text is not an expression; position counts characters from 0.
class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(const std::string& message, std::size_t position) : std::runtime_error(message), position_(position) {}

  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

// The text has to outlive the lexer and its tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; End again and again once the text is used up.
  Token next();

 private:
  Token take(TokenKind kind, std::size_t length, double number = 0);
  Token take_number();
  Token take_name();

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace abacus
