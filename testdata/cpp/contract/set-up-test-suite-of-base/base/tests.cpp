#include <gtest/gtest.h>
#include "pool.h"

class PoolTest : public testing::Test {
protected:
    static void SetUpTestSuite() { level = fill(); }
    static int level;
};
int PoolTest::level = 0;

class DeepPool : public PoolTest {};

TEST_F(DeepPool, IsFilled) { EXPECT_EQ(5, level); }
TEST(Pool, Drains) { EXPECT_EQ(0, drain()); }
