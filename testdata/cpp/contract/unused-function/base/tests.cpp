#include <gtest/gtest.h>

int cube(int x);

TEST(Math, Cube) { EXPECT_EQ(8, cube(2)); }
