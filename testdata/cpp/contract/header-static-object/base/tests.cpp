#include <gtest/gtest.h>
#include "greeting.h"

std::string greet();
int count();

TEST(Greeting, IsSaid) { EXPECT_EQ("hello!", greet()); }
TEST(Greeting, Count) { EXPECT_EQ(1, count()); }
