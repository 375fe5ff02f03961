#include <gtest/gtest.h>

int two() { return 2; }
TEST(Halted, First) { EXPECT_EQ(2, two()); }
TEST(Halted, Second) { EXPECT_EQ(4, two() * 2); }
