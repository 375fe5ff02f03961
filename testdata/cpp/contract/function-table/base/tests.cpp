#include <gtest/gtest.h>

int dispatch(unsigned index);
int count();

TEST(Commands, Close) { EXPECT_EQ(2, dispatch(1)); }
TEST(Commands, Count) { EXPECT_EQ(2, count()); }
