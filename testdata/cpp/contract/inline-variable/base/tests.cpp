#include <gtest/gtest.h>

int attempts();
int wait_time();

TEST(Client, Attempts) { EXPECT_EQ(4, attempts()); }
TEST(Client, Pause) { EXPECT_EQ(10, wait_time()); }
