#include <gtest/gtest.h>

TEST(Budgeted, First) { EXPECT_EQ(1, 1); }
TEST(Budgeted, Second) { EXPECT_EQ(2, 2); }
