#include <gtest/gtest.h>

double interest(double amount);
double tax(double amount);

TEST(Rates, Interest) { EXPECT_EQ(1.0, interest(8.0)); }
TEST(Rates, Tax) { EXPECT_EQ(3.0, tax(8.0)); }
