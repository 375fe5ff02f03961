#include <gtest/gtest.h>

const char* first();
const char* second();

TEST(Pair, First) { EXPECT_STREQ("first", first()); }
TEST(Pair, Second) { EXPECT_STREQ("second", second()); }
