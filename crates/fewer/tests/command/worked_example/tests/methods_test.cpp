#include "methods.h"

#include <gtest/gtest.h>

TEST(T, t1) { EXPECT_GT(m(), 0); }
TEST(T, t2) { EXPECT_GT(p(), 0); }
TEST(T, t3) { EXPECT_GT(q(), 0); }
TEST(T, t4) { EXPECT_GT(m() + p(), 0); }
