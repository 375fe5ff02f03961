#include <gtest/gtest.h>
#include "tools.h"

TEST(Tools, Used) { EXPECT_EQ(2, used(1)); }
TEST(Tools, Elsewhere) { EXPECT_EQ(1, 1); }
