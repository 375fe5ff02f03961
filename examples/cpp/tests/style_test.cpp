#include "abacus/style.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace abacus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(PlainStyleTest, WritesTheShortestText) {
  EXPECT_EQ(PlainStyle().format(0.1), "0.1");
  EXPECT_EQ(PlainStyle().format(-2.5), "-2.5");
  EXPECT_EQ(PlainStyle().format(1e100), "1e+100");
}

TEST(PlainStyleTest, WritesWhatIsNotFinite) {
  EXPECT_EQ(PlainStyle().format(infinity), "inf");
  EXPECT_EQ(PlainStyle().format(-infinity), "-inf");
  EXPECT_EQ(PlainStyle().format(nan), "nan");
}

TEST(FixedStyleTest, RoundsToItsDecimals) {
  EXPECT_EQ(FixedStyle(2).format(3.14159), "3.14");
  EXPECT_EQ(FixedStyle(2).format(-2.999), "-3.00");
  EXPECT_EQ(FixedStyle(0).format(1234.4), "1234");
  EXPECT_EQ(FixedStyle(2).format(-0.001), "0.00");
  EXPECT_EQ(FixedStyle(3).format(-0.001), "-0.001");
}

TEST(PercentStyleTest, CountsHundredths) {
  EXPECT_EQ(PercentStyle(1).format(0.256), "25.6%");
  EXPECT_EQ(PercentStyle(0).format(-1.5), "-150%");
}

TEST(GroupedStyleTest, SeparatesThousands) {
  EXPECT_EQ(GroupedStyle(2).format(1234567.8), "1,234,567.80");
  EXPECT_EQ(GroupedStyle(0).format(-123456), "-123,456");
  EXPECT_EQ(GroupedStyle(0).format(999), "999");
  EXPECT_EQ(GroupedStyle(1, '\'').format(1000), "1'000.0");
}

TEST(AccountingStyleTest, PutsNegativeAmountsInParentheses) {
  EXPECT_EQ(AccountingStyle().format(1234.5), "1,234.50");
  EXPECT_EQ(AccountingStyle().format(-1234.5), "(1,234.50)");
}

TEST(EngineeringStyleTest, UsesPrefixes) {
  EXPECT_EQ(EngineeringStyle(1).format(47000), "47.0k");
  EXPECT_EQ(EngineeringStyle(0).format(1000), "1k");
  EXPECT_EQ(EngineeringStyle(2).format(-0.0025), "-2.50m");
  EXPECT_EQ(EngineeringStyle(0).format(3), "3");
  EXPECT_EQ(EngineeringStyle(0).format(1e6), "1M");
  EXPECT_EQ(EngineeringStyle(0).format(1e9), "1G");
  EXPECT_EQ(EngineeringStyle(0).format(1e12), "1T");
  EXPECT_EQ(EngineeringStyle(1).format(2.2e6), "2.2M");
  EXPECT_EQ(EngineeringStyle(1).format(2.2e-6), "2.2u");
  EXPECT_EQ(EngineeringStyle(0).format(4.7e-8), "47n");
  EXPECT_EQ(EngineeringStyle(0).format(0), "0");
}

TEST(FractionStyleTest, WritesMixedNumbers) {
  EXPECT_EQ(FractionStyle(16).format(1.75), "1 3/4");
  EXPECT_EQ(FractionStyle(16).format(-0.5), "-1/2");
  EXPECT_EQ(FractionStyle(16).format(2.0001), "2");
}

}  // namespace
}  // namespace abacus
