#include <gtest/gtest.h>

int attempt();
int calm();

TEST(Jump, Attempt) { EXPECT_EQ(3, attempt()); }
TEST(Jump, Calm) { EXPECT_EQ(0, calm()); }
