#include <gtest/gtest.h>

extern "C" int answer();
extern "C" int answer_version_one();
extern "C" int answer_version_two();
int question();

TEST(Alias, Answer) { EXPECT_EQ(1, answer()); }
TEST(Alias, VersionOne) { EXPECT_EQ(1, answer_version_one()); }
TEST(Alias, VersionTwo) { EXPECT_EQ(2, answer_version_two()); }
TEST(Alias, Question) { EXPECT_EQ(6, question()); }
