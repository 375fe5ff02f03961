#include <gtest/gtest.h>

int car();
int wheels();

TEST(Car, Speed) { EXPECT_EQ(100, car()); }
TEST(Car, Wheels) { EXPECT_EQ(4, wheels()); }
