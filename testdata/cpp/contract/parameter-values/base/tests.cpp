#include <gtest/gtest.h>

class Even : public testing::TestWithParam<int> {};

TEST_P(Even, IsEven) { EXPECT_EQ(0, GetParam() % 2); }

INSTANTIATE_TEST_SUITE_P(Numbers, Even, testing::Values(2, 4, 6));

class Odd : public testing::TestWithParam<int> {};

TEST_P(Odd, IsOdd) { EXPECT_EQ(1, GetParam() % 2); }

INSTANTIATE_TEST_SUITE_P(Numbers, Odd, testing::Values(1, 3));

TEST(Plain, Works) { EXPECT_EQ(1, 1); }
