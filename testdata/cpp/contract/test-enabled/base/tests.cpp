#include <gtest/gtest.h>

int two() { return 2; }

TEST(Enabled, DISABLED_Later) { EXPECT_EQ(3, two()); }
TEST(Enabled, Always) { EXPECT_EQ(2, two()); }
