#include <gtest/gtest.h>

int limit();
int floor_of();

TEST(Limit, Upper) { EXPECT_EQ(100, limit()); }
TEST(Limit, Lower) { EXPECT_EQ(0, floor_of()); }
