#include <gtest/gtest.h>

int two();
int three();

TEST(Body, First) { EXPECT_EQ(2, two()); }
TEST(Body, Second) { EXPECT_LT(two(), three()); }
