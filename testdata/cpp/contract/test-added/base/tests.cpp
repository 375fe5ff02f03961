#include <gtest/gtest.h>

int two() { return 2; }

TEST(Added, First) { EXPECT_EQ(2, two()); }
TEST(Added, Second) { EXPECT_EQ(4, two() * 2); }
