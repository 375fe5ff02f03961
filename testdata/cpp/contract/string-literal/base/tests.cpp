#include <gtest/gtest.h>

const char* greeting();
const char* farewell();

TEST(Text, Greeting) { EXPECT_STREQ("hello", greeting()); }
TEST(Text, Farewell) { EXPECT_STREQ("goodbye", farewell()); }
