// Integers, fractions and other ways to write integers.
#include <gtest/gtest.h>

#include <limits>

#include "abacus/integer.hpp"
#include "abacus/radix.hpp"
#include "abacus/rational.hpp"

namespace abacus {
namespace {

template <typename Int>
class IntegerTest : public testing::Test {};

using IntegerTypes = testing::Types<int, unsigned long>;
TYPED_TEST_SUITE(IntegerTest, IntegerTypes);

TYPED_TEST(IntegerTest, DivisorsAndMultiples) {
  EXPECT_EQ(greatest_common_divisor<TypeParam>(48, 36), TypeParam{12});
  EXPECT_EQ(greatest_common_divisor<TypeParam>(7, 0), TypeParam{7});
  EXPECT_EQ(least_common_multiple<TypeParam>(4, 6), TypeParam{12});
  EXPECT_EQ(least_common_multiple<TypeParam>(0, 6), TypeParam{0});
  EXPECT_EQ(least_common_multiple<TypeParam>(6, 0), TypeParam{0});
  EXPECT_EQ(floor_divide<TypeParam>(7, 2), TypeParam{3});
  EXPECT_EQ(floor_divide<TypeParam>(8, 2), TypeParam{4});
}

TYPED_TEST(IntegerTest, PowersAndRoots) {
  EXPECT_EQ(power<TypeParam>(3, 5), TypeParam{243});
  EXPECT_EQ(power<TypeParam>(7, 0), TypeParam{1});
  EXPECT_EQ(square_root<TypeParam>(0), TypeParam{0});
  EXPECT_EQ(square_root<TypeParam>(1), TypeParam{1});
  EXPECT_EQ(square_root<TypeParam>(99), TypeParam{9});
  EXPECT_EQ(square_root<TypeParam>(100), TypeParam{10});
  EXPECT_EQ(square_root<TypeParam>(std::numeric_limits<int>::max()), TypeParam{46340});
}

TYPED_TEST(IntegerTest, NegativeValues) {
  if constexpr (std::is_unsigned_v<TypeParam>) {
    GTEST_SKIP() << "an unsigned type has no negative values";
  } else {
    EXPECT_EQ(floor_divide<TypeParam>(-7, 2), TypeParam{-4});
    EXPECT_EQ(floor_divide<TypeParam>(7, -2), TypeParam{-4});
    EXPECT_EQ(floor_divide<TypeParam>(-7, -2), TypeParam{3});
    EXPECT_EQ(floor_divide<TypeParam>(-8, 2), TypeParam{-4});
    EXPECT_EQ(magnitude<TypeParam>(-5), TypeParam{5});
    EXPECT_EQ(magnitude<TypeParam>(5), TypeParam{5});
    EXPECT_EQ(greatest_common_divisor<TypeParam>(-48, 36), TypeParam{12});
    EXPECT_EQ(least_common_multiple<TypeParam>(-4, 6), TypeParam{12});
  }
}

TEST(RationalTest, IsKeptInLowestTerms) {
  const Rational fraction(6, -8);
  EXPECT_EQ(fraction.numerator(), -3);
  EXPECT_EQ(fraction.denominator(), 4);
  EXPECT_DOUBLE_EQ(fraction.to_double(), -0.75);
  EXPECT_EQ(fraction.to_string(), "-3/4");
  EXPECT_EQ(Rational(-4, 2).to_string(), "-2");
  EXPECT_FALSE(Rational(1, 2) == Rational(1, 3));
  EXPECT_FALSE(Rational(1, 2) == Rational(3, 2));
}

TEST(RationalTest, ArithmeticAndOrder) {
  EXPECT_EQ(Rational(1, 6) + Rational(1, 4), Rational(5, 12));
  EXPECT_EQ(Rational(1, 6) - Rational(1, 4), Rational(-1, 12));
  EXPECT_EQ(Rational(2, 3) * Rational(9, 4), Rational(3, 2));
  EXPECT_EQ(Rational(2, 3) / Rational(-4, 9), Rational(-3, 2));
  EXPECT_EQ(Rational(-7, 2).floor(), -4);
  EXPECT_LT(Rational(1, 3), Rational(1, 2));
  EXPECT_LT(Rational(-1, 2), Rational(-1, 3));
  EXPECT_FALSE(Rational(2, 4) < Rational(1, 2));
}

TEST(RationalTest, NearestFraction) {
  EXPECT_EQ(Rational::approximate(3.14159265358979, 10), Rational(22, 7));
  EXPECT_EQ(Rational::approximate(3.14159265358979, 150), Rational(355, 113));
  EXPECT_EQ(Rational::approximate(3.14159265358979, 60), Rational(179, 57));
  EXPECT_EQ(Rational::approximate(3.14159265358979, 9), Rational(22, 7));
  EXPECT_EQ(Rational::approximate(-0.375, 100), Rational(-3, 8));
  EXPECT_EQ(Rational::approximate(5, 1), Rational(5));
}

TEST(RationalDeathTest, HasNoZeroDenominator) {
  EXPECT_DEATH(Rational(1, 0), "a fraction has a denominator other than zero");
  EXPECT_DEATH(Rational(0).reciprocal(), "broken precondition");
}

TEST(RadixTest, WritesIntegers) {
  EXPECT_EQ(to_radix(0, 2), "0");
  EXPECT_EQ(to_radix(10, 2), "1010");
  EXPECT_EQ(to_radix(-255, 16), "-ff");
  EXPECT_EQ(to_radix(35, 36), "z");
  EXPECT_EQ(to_radix(std::numeric_limits<std::int64_t>::min(), 16), "-8000000000000000");
}

TEST(RadixTest, ReadsIntegers) {
  EXPECT_EQ(parse_radix("1010", 2), 10);
  EXPECT_EQ(parse_radix("-fF", 16), -255);
  EXPECT_EQ(parse_radix("aZ09", 36), 511929);
  EXPECT_EQ(parse_radix("zA90", 36), 1646244);
  EXPECT_EQ(parse_radix("102", 2), std::nullopt);
  EXPECT_EQ(parse_radix("1.5", 10), std::nullopt);
}

struct Numeral {
  int value;
  const char* text;
};

// For messages and listings.
void PrintTo(const Numeral& numeral, std::ostream* out) { *out << numeral.value << " = " << numeral.text; }

class RomanNumeralTest : public testing::TestWithParam<Numeral> {};

TEST_P(RomanNumeralTest, IsWrittenAndRead) {
  EXPECT_EQ(to_roman(GetParam().value), GetParam().text);
  EXPECT_EQ(parse_roman(GetParam().text), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(Canonical, RomanNumeralTest,
                         testing::Values(Numeral{449, "CDXLIX"}, Numeral{1994, "MCMXCIV"},
                                         Numeral{3666, "MMMDCLXVI"}),
                         [](const auto& info) { return std::string(info.param.text); });

TEST(RomanNumeralErrorTest, OtherSpellingsAndValuesAreRefused) {
  EXPECT_EQ(parse_roman("IIII"), std::nullopt);
  EXPECT_EQ(parse_roman("VX"), std::nullopt);
  EXPECT_EQ(parse_roman("XIIb"), std::nullopt);
  EXPECT_EQ(to_roman(0), std::nullopt);
  EXPECT_EQ(to_roman(1), "I");
  EXPECT_EQ(to_roman(3999), "MMMCMXCIX");
  EXPECT_EQ(to_roman(4000), std::nullopt);
}

}  // namespace
}  // namespace abacus
