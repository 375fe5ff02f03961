#include <gtest/gtest.h>

int two();

TEST(Dropped, Works) { EXPECT_EQ(2, two()); }
