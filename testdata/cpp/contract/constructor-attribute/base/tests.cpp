#include <gtest/gtest.h>

int is_booted();
int version();

TEST(Boot, Booted) { EXPECT_EQ(1, is_booted()); }
TEST(Boot, Version) { EXPECT_EQ(2, version()); }
