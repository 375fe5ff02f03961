#include <gtest/gtest.h>
#include "greet.h"

TEST(Greet, ByDefault) { EXPECT_EQ(10, greet()); }
TEST(Greet, Twice) { EXPECT_EQ(20, greet(2)); }
