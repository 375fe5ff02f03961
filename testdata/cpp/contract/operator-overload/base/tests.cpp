#include <gtest/gtest.h>
#include "money.h"

TEST(Money, Equal) { EXPECT_EQ((Money{5}), (Money{5})); }
TEST(Weight, Equal) { EXPECT_EQ((Weight{5}), (Weight{5})); }
