#include <gtest/gtest.h>

int integer_code();
int character_code();

TEST(Label, OfAnInteger) { EXPECT_EQ(1, integer_code()); }
TEST(Label, OfACharacter) { EXPECT_EQ(1, character_code()); }
