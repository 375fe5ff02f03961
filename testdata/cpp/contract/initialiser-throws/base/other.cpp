#include <gtest/gtest.h>

TEST(Other, Works) { EXPECT_EQ(1, 1); }
