#include <gtest/gtest.h>

int two() { return 2; }

TEST(Kept, Works) { EXPECT_EQ(2, two()); }
