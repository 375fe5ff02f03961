#include <gtest/gtest.h>

int days(int month);
int weeks(int month);

TEST(Calendar, Days) { EXPECT_EQ(28, days(2)); }
TEST(Calendar, Weeks) { EXPECT_EQ(7, weeks(2)); }
