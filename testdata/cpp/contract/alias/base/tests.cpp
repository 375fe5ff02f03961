#include <gtest/gtest.h>

extern "C" int answer();
int question();

TEST(Alias, Answer) { EXPECT_EQ(42, answer()); }
TEST(Alias, Question) { EXPECT_EQ(6, question()); }
