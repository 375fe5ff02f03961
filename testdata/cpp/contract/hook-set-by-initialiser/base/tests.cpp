#include <gtest/gtest.h>

int call_hook();
int idle();

TEST(Hook, IsCalled) { EXPECT_EQ(5, call_hook()); }
TEST(Hook, Idle) { EXPECT_EQ(1, idle()); }
