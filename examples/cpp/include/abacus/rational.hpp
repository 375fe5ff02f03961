// Exact fractions of 64-bit integers, always in lowest terms with a positive denominator.
#pragma once

#include <cstdint>
#include <string>

namespace abacus {

class Rational {
 public:
  Rational(std::int64_t whole = 0) : numerator_(whole), denominator_(1) {}
  Rational(std::int64_t numerator, std::int64_t denominator);

  // The fraction nearest to value among those with a denominator up to max_denominator (continued fractions).
  static Rational approximate(double value, std::int64_t max_denominator);

  std::int64_t numerator() const { return numerator_; }
  std::int64_t denominator() const { return denominator_; }
  double to_double() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }

  // The largest integer not above this fraction.
  std::int64_t floor() const;
  Rational reciprocal() const;
  std::string to_string() const;

 private:
  std::int64_t numerator_;
  std::int64_t denominator_;
};

Rational operator-(const Rational& value);
Rational operator+(const Rational& left, const Rational& right);
Rational operator-(const Rational& left, const Rational& right);
Rational operator*(const Rational& left, const Rational& right);
Rational operator/(const Rational& left, const Rational& right);

inline bool operator==(const Rational& left, const Rational& right) {
  return left.numerator() == right.numerator() && left.denominator() == right.denominator();
}

inline bool operator<(const Rational& left, const Rational& right) {
  return left.numerator() * right.denominator() < right.numerator() * left.denominator();
}

}  // namespace abacus
