#include "abacus/lexer.hpp"

#include <charconv>

namespace abacus {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// End for a character that is no operator.
TokenKind operator_kind(char c) {
  switch (c) {
    case '+': return TokenKind::Plus;
    case '-': return TokenKind::Minus;
    case '*': return TokenKind::Star;
    case '/': return TokenKind::Slash;
    case '%': return TokenKind::Percent;
    case '^': return TokenKind::Caret;
    case '(': return TokenKind::LeftParenthesis;
    case ')': return TokenKind::RightParenthesis;
    case ',': return TokenKind::Comma;
    default: return TokenKind::End;
  }
}

}  // namespace

Token Lexer::next() {
  while (position_ < text_.size() && is_space(text_[position_])) {
    ++position_;
  }
  if (position_ == text_.size()) {
    return take(TokenKind::End, 0);
  }
  const char first = text_[position_];
  if (is_digit(first) || first == '.') {
    return take_number();
  }
  if (is_letter(first)) {
    return take_name();
  }
  const TokenKind kind = operator_kind(first);
  if (kind == TokenKind::End) {
    throw SyntaxError(std::string("unexpected character '") + first + "'", position_);
  }
  return take(kind, 1);
}

Token Lexer::take(TokenKind kind, std::size_t length, double number) {
  const Token token{kind, text_.substr(position_, length), position_, number};
  position_ += length;
  return token;
}

Token Lexer::take_number() {
  const char* begin = text_.data() + position_;
  double number = 0;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
  if (error == std::errc::result_out_of_range) {
    throw SyntaxError("number out of range", position_);
  }
  if (error != std::errc()) {
    throw SyntaxError("a number needs a digit", position_);
  }
  return take(TokenKind::Number, static_cast<std::size_t>(end - begin), number);
}

Token Lexer::take_name() {
  std::size_t end = position_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) {
    ++end;
  }
  return take(TokenKind::Name, end - position_);
}

}  // namespace abacus
