#include <gtest/gtest.h>

int count_after(int n);
int size_after(int n);

TEST(Alias, Count) { EXPECT_EQ(256, count_after(255)); }
TEST(Alias, Size) { EXPECT_EQ(256, size_after(255)); }
