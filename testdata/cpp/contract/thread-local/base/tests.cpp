#include <gtest/gtest.h>

int next_depth();
int next_width();

TEST(ThreadLocal, Depth) { EXPECT_EQ(4, next_depth()); }
TEST(ThreadLocal, Width) { EXPECT_EQ(5, next_width()); }
