#include <gtest/gtest.h>

class Range : public testing::TestWithParam<int> {};

TEST_P(Range, IsPositive) { EXPECT_GT(GetParam(), 0); }
TEST_P(Range, IsSmall) { EXPECT_LT(GetParam(), 10); }

INSTANTIATE_TEST_SUITE_P(Few, Range, testing::Values(5, 6));
