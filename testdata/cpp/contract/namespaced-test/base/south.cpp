#include <gtest/gtest.h>

namespace south {
static int degrees() { return -60; }

TEST(SouthMap, Degrees) { EXPECT_EQ(-60, degrees()); }
}  // namespace south
