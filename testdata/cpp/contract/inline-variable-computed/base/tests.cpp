#include <gtest/gtest.h>

int user();
int fixed();

TEST(Limit, OfUser) { EXPECT_EQ(8, user()); }
TEST(Limit, Fixed) { EXPECT_EQ(1, fixed()); }
