#include <gtest/gtest.h>
#include <cstdlib>

TEST(Service, IsUp) { EXPECT_STREQ("up", std::getenv("SERVICE_STATE")); }
TEST(Service, Unrelated) { EXPECT_EQ(1, 1); }
