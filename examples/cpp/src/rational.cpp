#include "abacus/rational.hpp"

#include <cmath>

#include "abacus/check.hpp"
#include "abacus/integer.hpp"

namespace abacus {

Rational::Rational(std::int64_t numerator, std::int64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
  require(denominator != 0, "a fraction has a denominator other than zero");
  const std::int64_t divisor = greatest_common_divisor(numerator, denominator);
  numerator_ /= divisor;
  denominator_ /= divisor;
  if (denominator_ < 0) {
    numerator_ = -numerator_;
    denominator_ = -denominator_;
  }
}

Rational Rational::approximate(double value, std::int64_t max_denominator) {
  require(std::isfinite(value), "only a finite number has a nearest fraction");
  require(max_denominator >= 1, "the largest denominator is at least one");
  // Two neighbouring convergents h/k of the continued fraction, the newer one first.
  std::int64_t h = 1, h_before = 0;
  std::int64_t k = 0, k_before = 1;
  double rest = value;
  while (true) {
    const double whole = std::floor(rest);
    const auto term = static_cast<std::int64_t>(whole);
    if (k != 0 && term > (max_denominator - k_before) / k) {
      break;
    }
    const std::int64_t h_next = term * h + h_before;
    const std::int64_t k_next = term * k + k_before;
    h_before = h, h = h_next;
    k_before = k, k = k_next;
    const double fraction = rest - whole;
    if (fraction < 1e-9) {
      return Rational(h, k);
    }
    rest = 1 / fraction;
  }
  // The best semiconvergent may lie nearer than the last convergent.
  const std::int64_t steps = (max_denominator - k_before) / k;
  const Rational semiconvergent(steps * h + h_before, steps * k + k_before);
  const Rational convergent(h, k);
  const double semi_error = std::abs(semiconvergent.to_double() - value);
  return semi_error < std::abs(convergent.to_double() - value) ? semiconvergent : convergent;
}

std::int64_t Rational::floor() const { return floor_divide(numerator_, denominator_); }

Rational Rational::reciprocal() const { return Rational(denominator_, numerator_); }

std::string Rational::to_string() const {
  std::string text = std::to_string(numerator_);
  if (denominator_ != 1) {
    text += '/';
    text += std::to_string(denominator_);
  }
  return text;
}

Rational operator-(const Rational& value) { return Rational(-value.numerator(), value.denominator()); }

Rational operator+(const Rational& left, const Rational& right) {
  const std::int64_t denominator = least_common_multiple(left.denominator(), right.denominator());
  return Rational(left.numerator() * (denominator / left.denominator()) +
                      right.numerator() * (denominator / right.denominator()),
                  denominator);
}

Rational operator-(const Rational& left, const Rational& right) { return left + -right; }

Rational operator*(const Rational& left, const Rational& right) {
  return Rational(left.numerator() * right.numerator(), left.denominator() * right.denominator());
}

Rational operator/(const Rational& left, const Rational& right) { return left * right.reciprocal(); }

}  // namespace abacus
