#include <gtest/gtest.h>
#include <cstdlib>

TEST(Mode, IsStrict) { EXPECT_STREQ("strict", std::getenv("RUN_MODE")); }
TEST(Mode, Unrelated) { EXPECT_EQ(1, 1); }
