#include <gtest/gtest.h>

int upper(int a, int b);
double upper(double a, double b);
int lower(int a, int b);

TEST(Largest, OfIntegers) { EXPECT_EQ(7, upper(3, 7)); }
TEST(Largest, OfFractions) { EXPECT_EQ(7.5, upper(3.5, 7.5)); }
TEST(Smallest, OfIntegers) { EXPECT_EQ(3, lower(3, 7)); }
