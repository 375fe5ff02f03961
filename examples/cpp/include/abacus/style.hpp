// How a number is written for people. A style says how to write a magnitude; the base class deals with signs,
// infinities and what is not a number.
#pragma once

#include <cstdint>
#include <string>

namespace abacus {

class NumberStyle {
 public:
  virtual ~NumberStyle() = default;

  std::string format(double value) const;

 protected:
  virtual std::string magnitude(double value) const = 0;
  virtual std::string negative(const std::string& magnitude) const;
  virtual std::string not_a_number() const;
};

// The shortest text that reads back as the same number.
class PlainStyle : public NumberStyle {
 protected:
  std::string magnitude(double value) const override;
};

// A fixed number of digits after the decimal point.
class FixedStyle : public NumberStyle {
 public:
  explicit FixedStyle(int decimals) : decimals_(decimals) {}

 protected:
  std::string magnitude(double value) const override;

 private:
  int decimals_;
};

// 0.256 is 25.6%.
class PercentStyle : public FixedStyle {
 public:
  using FixedStyle::FixedStyle;

 protected:
  std::string magnitude(double value) const override;
};

// 1234567.8 is 1,234,567.80.
class GroupedStyle : public FixedStyle {
 public:
  explicit GroupedStyle(int decimals, char separator = ',') : FixedStyle(decimals), separator_(separator) {}

 protected:
  std::string magnitude(double value) const override;

 private:
  char separator_;
};

// Grouped, with two decimals and negative amounts in parentheses.
class AccountingStyle : public GroupedStyle {
 public:
  AccountingStyle() : GroupedStyle(2) {}

 protected:
  std::string negative(const std::string& magnitude) const override;
};

// 47000 is 47.0k.
class EngineeringStyle : public FixedStyle {
 public:
  using FixedStyle::FixedStyle;

 protected:
  std::string magnitude(double value) const override;
};

// 1.75 is 1 3/4.
class FractionStyle : public NumberStyle {
 public:
  explicit FractionStyle(std::int64_t max_denominator) : max_denominator_(max_denominator) {}

 protected:
  std::string magnitude(double value) const override;

 private:
  std::int64_t max_denominator_;
};

}  // namespace abacus
