#include <gtest/gtest.h>

int seven();

TEST(Seven, IsSeven) { EXPECT_EQ(7, seven()); }
