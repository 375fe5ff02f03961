#include <gtest/gtest.h>

int sign_of(char c);
int zero();

TEST(Sign, OfAHighCharacter) { EXPECT_EQ(-1, sign_of('\xff')); }
TEST(Sign, Zero) { EXPECT_EQ(0, zero()); }
