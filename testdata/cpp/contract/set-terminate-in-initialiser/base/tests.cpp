#include <gtest/gtest.h>

static void fail() noexcept { throw 1; }

TEST(TerminateDeathTest, StopsWithThree) { EXPECT_EXIT(fail(), testing::ExitedWithCode(3), "stopped"); }
TEST(Terminate, NotAtAll) { EXPECT_EQ(1, 1); }
