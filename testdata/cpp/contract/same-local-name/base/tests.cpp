#include <gtest/gtest.h>

int left();
int right();

TEST(Local, Left) { EXPECT_EQ(11, left()); }
TEST(Local, Right) { EXPECT_EQ(22, right()); }
