#include "abacus/units.hpp"

#include <gtest/gtest.h>

namespace abacus {
namespace {

struct Conversion {
  double value;
  const char* from;
  double expected;
  const char* to;
};

// For messages and listings.
void PrintTo(const Conversion& conversion, std::ostream* out) {
  *out << conversion.value << " " << conversion.from << " = " << conversion.expected << " " << conversion.to;
}

class ConversionTest : public testing::TestWithParam<Conversion> {};

TEST_P(ConversionTest, WorksBothWays) {
  const Conversion& conversion = GetParam();
  const auto there = convert(conversion.value, conversion.from, conversion.to);
  ASSERT_TRUE(there.has_value());
  EXPECT_NEAR(*there, conversion.expected, 1e-9);
  const auto back = convert(conversion.expected, conversion.to, conversion.from);
  ASSERT_TRUE(back.has_value());
  EXPECT_NEAR(*back, conversion.value, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Length, ConversionTest,
                         testing::Values(Conversion{2, "mi", 3.218688, "km"}, Conversion{1, "ft", 12, "in"}));
INSTANTIATE_TEST_SUITE_P(Other, ConversionTest,
                         testing::Values(Conversion{1, "lb", 16, "oz"}, Conversion{100, "C", 212, "F"}));

TEST(UnitsTest, ConvertWithinTheirDimension) {
  EXPECT_DOUBLE_EQ(*convert(2.5, "m", "mm"), 2500);
  EXPECT_DOUBLE_EQ(*convert(2.5, "cm", "mm"), 25);
  EXPECT_DOUBLE_EQ(*convert(1, "in", "cm"), 2.54);
  EXPECT_DOUBLE_EQ(*convert(1, "lb", "g"), 453.59237);
  EXPECT_DOUBLE_EQ(*convert(2, "kg", "g"), 2000);
  EXPECT_DOUBLE_EQ(*convert(1.5, "d", "h"), 36);
  EXPECT_DOUBLE_EQ(*convert(3, "min", "s"), 180);
  EXPECT_DOUBLE_EQ(*convert(0, "C", "K"), 273.15);
  EXPECT_EQ(convert(1, "m", "kg"), std::nullopt);
  EXPECT_EQ(convert(1, "m", "parsec"), std::nullopt);
  EXPECT_EQ(convert(1, "parsec", "m"), std::nullopt);
  EXPECT_EQ(dimension_of("oz"), Dimension::Mass);
  EXPECT_EQ(dimension_of("parsec"), std::nullopt);
  EXPECT_EQ(units_of(Dimension::Time), (std::vector<std::string_view>{"s", "min", "h", "d"}));
}

TEST(QuantityTest, IsRead) {
  const auto spaced = parse_quantity("12.5 km");
  ASSERT_TRUE(spaced.has_value());
  EXPECT_DOUBLE_EQ(spaced->value, 12.5);
  EXPECT_EQ(spaced->unit, "km");
  EXPECT_TRUE(parse_quantity("-40C").has_value());
  EXPECT_FALSE(parse_quantity("12.5").has_value());
  EXPECT_FALSE(parse_quantity("km").has_value());
}

TEST(DurationTest, IsDescribed) {
  EXPECT_EQ(describe_duration(3723), "1 h 2 min 3 s");
  EXPECT_EQ(describe_duration(2 * 86400 + 5 * 60), "2 d 5 min");
  EXPECT_EQ(describe_duration(86399), "23 h 59 min 59 s");
  EXPECT_EQ(describe_duration(86400 + 3600), "1 d 1 h");
  EXPECT_EQ(describe_duration(0), "0 s");
}

}  // namespace
}  // namespace abacus
