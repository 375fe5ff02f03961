#include <gtest/gtest.h>

class Small : public testing::TestWithParam<int> {};

TEST_P(Small, IsSmall) { EXPECT_LT(GetParam(), 3); }

INSTANTIATE_TEST_SUITE_P(First, Small, testing::Range(0, 3));

TEST(Plain, Works) { EXPECT_EQ(1, 1); }
