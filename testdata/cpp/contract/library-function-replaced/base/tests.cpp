#include <gtest/gtest.h>

int roll();
int sides();

TEST(Dice, Roll) { EXPECT_EQ(1, roll()); }
TEST(Dice, Sides) { EXPECT_EQ(6, sides()); }
