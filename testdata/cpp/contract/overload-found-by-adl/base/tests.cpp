#include <gtest/gtest.h>

int load_of_kilo();
int load_of_mega();

TEST(Load, OfAKilo) { EXPECT_EQ(10, load_of_kilo()); }
TEST(Load, OfAMega) { EXPECT_EQ(10, load_of_mega()); }
