#include <gtest/gtest.h>

int scale(int x);
extern "C" int scale_by_three(int x);

TEST(Scale, ByTwo) { EXPECT_EQ(10, scale(5)); }
TEST(Scale, ByThree) { EXPECT_EQ(15, scale_by_three(5)); }
