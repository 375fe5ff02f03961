#include <gtest/gtest.h>
#include <cstdlib>

TEST(Service, IsFast) { EXPECT_STREQ("fast", std::getenv("SERVICE_MODE")); }
TEST(Service, Unrelated) { EXPECT_EQ(1, 1); }
