#include <gtest/gtest.h>
#include "clamp.h"

int meter(int x);
int doubled(int x);

TEST(Clamp, Directly) { EXPECT_EQ(100, clamp(200)); }
TEST(Clamp, ThroughTheMeter) { EXPECT_EQ(100, meter(200)); }
TEST(Twice, Directly) { EXPECT_EQ(4, twice(2)); }
TEST(Twice, ThroughDoubled) { EXPECT_EQ(4, doubled(2)); }
