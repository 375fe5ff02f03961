#include <gtest/gtest.h>

int area();
int volume();

TEST(Constexpr, Area) { EXPECT_EQ(16, area()); }
TEST(Constexpr, Volume) { EXPECT_EQ(8, volume()); }
