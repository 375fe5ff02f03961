#include <gtest/gtest.h>

const int& seed();
const int& salt();

TEST(Seed, IsDrawnOnce) { EXPECT_EQ(42, seed()); }
TEST(Salt, IsDrawnOnce) { EXPECT_EQ(43, salt()); }
