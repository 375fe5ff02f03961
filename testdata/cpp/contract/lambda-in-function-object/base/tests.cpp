#include <gtest/gtest.h>
#include "rules.h"

TEST(Rules, Discount) { EXPECT_EQ(90, discount(10)(100)); }
TEST(Rules, Surcharge) { EXPECT_EQ(110, surcharge(10)(100)); }
