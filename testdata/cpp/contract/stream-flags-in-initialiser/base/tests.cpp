#include <gtest/gtest.h>

bool renders_hexadecimal();

TEST(Format, IsDecimal) { EXPECT_FALSE(renders_hexadecimal()); }
