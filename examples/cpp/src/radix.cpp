#include "abacus/radix.hpp"

#include "abacus/check.hpp"

namespace abacus {
namespace {

constexpr char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

struct RomanSymbol {
  int value;
  char text[3];
};

constexpr RomanSymbol roman_symbols[] = {
    {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
    {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"},
};

// The value of a digit in any base, or -1.
int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') {
    return digit - '0';
  }
  if (digit >= 'a' && digit <= 'z') {
    return digit - 'a' + 10;
  }
  if (digit >= 'A' && digit <= 'Z') {
    return digit - 'A' + 10;
  }
  return -1;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

std::string to_radix(std::int64_t value, int radix) {
  require(radix >= 2 && radix <= 36, "a radix is between 2 and 36");
  const bool negative = value < 0;
  std::string text;
  do {
    const auto digit = static_cast<int>(value % radix);
    text.insert(text.begin(), digits[digit < 0 ? -digit : digit]);
    value /= radix;
  } while (value != 0);
  return negative ? "-" + text : text;
}

std::optional<std::int64_t> parse_radix(std::string_view text, int radix) {
  require(radix >= 2 && radix <= 36, "a radix is between 2 and 36");
  const bool negative = starts_with(text, "-");
  if (negative) {
    text.remove_prefix(1);
  }
  std::int64_t value = 0;
  for (const char c : text) {
    const int digit = digit_value(c);
    if (digit < 0 || digit >= radix) {
      return std::nullopt;
    }
    value = value * radix + digit;
  }
  return negative ? -value : value;
}

std::optional<std::string> to_roman(int value) {
  if (value < 1 || value > 3999) {
    return std::nullopt;
  }
  std::string text;
  for (const RomanSymbol& symbol : roman_symbols) {
    while (value >= symbol.value) {
      text += symbol.text;
      value -= symbol.value;
    }
  }
  return text;
}

std::optional<int> parse_roman(std::string_view text) {
  int value = 0;
  std::string_view rest = text;
  for (const RomanSymbol& symbol : roman_symbols) {
    while (starts_with(rest, symbol.text)) {
      value += symbol.value;
      rest.remove_prefix(std::string_view(symbol.text).size());
    }
  }
  const bool canonical = rest.empty() && to_roman(value) == text;
  return canonical ? std::optional<int>(value) : std::nullopt;
}

}  // namespace abacus
