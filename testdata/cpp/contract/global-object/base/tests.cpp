#include <gtest/gtest.h>
#include "twice.h"

int level();

TEST(Config, Level) { EXPECT_EQ(10, level()); }
TEST(Config, Unrelated) { EXPECT_EQ(4, twice(2)); }
