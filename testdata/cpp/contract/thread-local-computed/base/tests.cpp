#include <gtest/gtest.h>

extern thread_local int context;

int twice(int x);

TEST(Context, IsFresh) { EXPECT_EQ(12, context); }
TEST(Context, Twice) { EXPECT_EQ(4, twice(2)); }
