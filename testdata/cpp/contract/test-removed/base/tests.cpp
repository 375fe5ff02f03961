#include <gtest/gtest.h>

int two() { return 2; }

TEST(Removed, First) { EXPECT_EQ(2, two()); }
TEST(Removed, Second) { EXPECT_EQ(4, two() * 2); }
TEST(Removed, Third) { EXPECT_EQ(6, two() * 3); }
