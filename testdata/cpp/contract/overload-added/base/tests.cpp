#include <gtest/gtest.h>
#include "pick.h"

TEST(Pick, AnInteger) { EXPECT_EQ(1, pick(3)); }
TEST(Pick, AFraction) { EXPECT_EQ(1, pick(3.5)); }
