#include <gtest/gtest.h>

int report();
int summary();

TEST(Report, WithoutExtra) { EXPECT_EQ(0, report()); }
TEST(Report, Summary) { EXPECT_EQ(1, summary()); }
