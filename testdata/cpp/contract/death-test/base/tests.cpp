#include <gtest/gtest.h>

void panic();
void retreat();

TEST(PrinterDeathTest, Panics) { EXPECT_DEATH(panic(), "out of paper"); }
TEST(PrinterDeathTest, Retreats) { EXPECT_DEATH(retreat(), "no way on"); }
