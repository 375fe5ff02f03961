#include <gtest/gtest.h>
#include <string>

static std::string name = "board";

TEST(Global, Name) { EXPECT_EQ("board", name); }
TEST(Global, Unrelated) { EXPECT_EQ(1, 1); }
