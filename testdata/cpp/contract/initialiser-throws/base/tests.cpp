#include <gtest/gtest.h>

int limit();

TEST(Limit, IsChecked) { EXPECT_EQ(10, limit()); }
TEST(Limit, Unrelated) { EXPECT_EQ(2, 1 + 1); }
