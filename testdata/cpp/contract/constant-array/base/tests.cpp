#include <gtest/gtest.h>

extern const int primes[];
extern const int squares[];

TEST(Tables, Primes) { EXPECT_EQ(5, primes[2]); }
TEST(Tables, Squares) { EXPECT_EQ(9, squares[2]); }
