#include <gtest/gtest.h>

int decode(int code);
int encode(int code);

TEST(Switch, Decode) { EXPECT_EQ(86, decode(3)); }
TEST(Switch, Encode) { EXPECT_EQ(286, encode(3)); }
