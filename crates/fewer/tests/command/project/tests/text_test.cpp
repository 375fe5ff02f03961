#include <gtest/gtest.h>

#include "text.h"

TEST(Text, Shouts) { EXPECT_EQ("hello!", shout("hello")); }
TEST(Text, Reads) { EXPECT_EQ('h', first_line("testdata/greeting.txt")[0]); }
namespace {
TEST(Shape, Area) { SUCCEED(); }
}  // namespace
TEST(Text, Waits) { GTEST_SKIP() << "nothing to wait for"; }
