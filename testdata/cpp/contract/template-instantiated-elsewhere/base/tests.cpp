#include <gtest/gtest.h>
#include "sum.h"

TEST(Extern, Sum) { EXPECT_EQ(5, Sum<int>::of(2, 3)); }
TEST(Extern, Product) { EXPECT_EQ(6, Product<int>::of(2, 3)); }
