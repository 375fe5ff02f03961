#include <gtest/gtest.h>

TEST(Connected, First) { EXPECT_EQ(1, 1); }
TEST(Connected, Second) { EXPECT_EQ(2, 2); }
