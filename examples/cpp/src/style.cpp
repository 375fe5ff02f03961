#include "abacus/style.hpp"

#include <charconv>
#include <cmath>

#include "abacus/rational.hpp"

namespace abacus {
namespace {

struct Prefix {
  double factor;
  char symbol;
};

constexpr Prefix prefixes[] = {
    {1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}, {1, '\0'}, {1e-3, 'm'}, {1e-6, 'u'}, {1e-9, 'n'},
};

// False for texts such as 0.00, which keep no sign.
bool has_nonzero_digit(const std::string& text) {
  return text.find_first_of("123456789") != std::string::npos;
}

}  // namespace

std::string NumberStyle::format(double value) const {
  if (std::isnan(value)) {
    return not_a_number();
  }
  if (std::isinf(value)) {
    return value < 0 ? negative("inf") : "inf";
  }
  const std::string text = magnitude(std::abs(value));
  return value < 0 && has_nonzero_digit(text) ? negative(text) : text;
}

std::string NumberStyle::negative(const std::string& magnitude) const { return "-" + magnitude; }

std::string NumberStyle::not_a_number() const { return "nan"; }

std::string PlainStyle::magnitude(double value) const {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

std::string FixedStyle::magnitude(double value) const {
  char buffer[400];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals_);
  return std::string(buffer, result.ptr);
}

std::string PercentStyle::magnitude(double value) const { return FixedStyle::magnitude(value * 100) + "%"; }

std::string GroupedStyle::magnitude(double value) const {
  std::string text = FixedStyle::magnitude(value);
  const std::size_t point = text.find('.');
  std::size_t position = point == std::string::npos ? text.size() : point;
  while (position > 3) {
    position -= 3;
    text.insert(position, 1, separator_);
  }
  return text;
}

std::string AccountingStyle::negative(const std::string& magnitude) const { return "(" + magnitude + ")"; }

std::string EngineeringStyle::magnitude(double value) const {
  for (const Prefix& prefix : prefixes) {
    if (value >= prefix.factor) {
      std::string text = FixedStyle::magnitude(value / prefix.factor);
      if (prefix.symbol != '\0') {
        text += prefix.symbol;
      }
      return text;
    }
  }
  return FixedStyle::magnitude(value);
}

std::string FractionStyle::magnitude(double value) const {
  const Rational fraction = Rational::approximate(value, max_denominator_);
  const Rational whole = fraction.floor();
  if (fraction == whole) {
    return whole.to_string();
  }
  if (whole == Rational(0)) {
    return fraction.to_string();
  }
  return whole.to_string() + " " + (fraction - whole).to_string();
}

}  // namespace abacus
