#include <gtest/gtest.h>
#include "clock.h"

TEST(FakeClock, Now) { EXPECT_EQ(2, now()); }
TEST(FakeClock, Unrelated) { EXPECT_EQ(1, 1); }
