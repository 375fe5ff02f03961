#include <gtest/gtest.h>

int paint();
int canvas();

TEST(Weak, Paint) { EXPECT_EQ(10, paint()); }
TEST(Weak, Canvas) { EXPECT_EQ(4, canvas()); }
