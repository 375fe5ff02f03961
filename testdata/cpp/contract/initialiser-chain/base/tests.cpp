#include <gtest/gtest.h>

int current_root();
int current_leaf();
int twice(int x);

TEST(Chain, Leaf) { EXPECT_EQ(4, current_leaf()); }
TEST(Chain, Root) { EXPECT_EQ(3, current_root()); }
TEST(Chain, Unrelated) { EXPECT_EQ(4, twice(2)); }
