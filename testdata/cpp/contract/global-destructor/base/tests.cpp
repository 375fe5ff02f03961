#include <gtest/gtest.h>

int two() { return 2; }
TEST(Ended, First) { EXPECT_EQ(2, two()); }
TEST(Ended, Second) { EXPECT_EQ(4, two() * 2); }
