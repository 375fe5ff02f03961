#include <gtest/gtest.h>

int scale(int x);
int shift(int x);

TEST(Scale, ByTwo) { EXPECT_EQ(10, scale(5)); }
TEST(Scale, Shift) { EXPECT_EQ(6, shift(5)); }
