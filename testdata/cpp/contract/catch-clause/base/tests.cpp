#include <gtest/gtest.h>

int guarded();
int unguarded();

TEST(Guard, CatchesTheRange) { EXPECT_EQ(1, guarded()); }
TEST(Guard, Unguarded) { EXPECT_EQ(0, unguarded()); }
