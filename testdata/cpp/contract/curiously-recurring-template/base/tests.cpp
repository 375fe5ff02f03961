#include <gtest/gtest.h>

int slow_speed();
int fast_speed();

TEST(Counter, Slow) { EXPECT_EQ(2, slow_speed()); }
TEST(Counter, Fast) { EXPECT_EQ(2, fast_speed()); }
