#include <gtest/gtest.h>

int two() { return 2; }
TEST(Exit, First) { EXPECT_EQ(2, two()); }
TEST(Exit, Second) { EXPECT_EQ(4, two() * 2); }
