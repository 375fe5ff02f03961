#include <gtest/gtest.h>

int colour(unsigned index);
int red();
int blue();

TEST(Colours, Second) { EXPECT_EQ(2, colour(1)); }
TEST(Colours, Red) { EXPECT_EQ(1, red()); }
TEST(Colours, Blue) { EXPECT_EQ(2, blue()); }
