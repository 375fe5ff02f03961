#include <gtest/gtest.h>

int low();
int high();

TEST(Level, Low) { EXPECT_EQ(1, low()); }
TEST(Level, High) { EXPECT_EQ(9, high()); }
