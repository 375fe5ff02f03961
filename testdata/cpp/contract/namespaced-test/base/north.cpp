#include <gtest/gtest.h>

namespace north {
static int degrees() { return 60; }

TEST(NorthMap, Degrees) { EXPECT_EQ(60, degrees()); }
}  // namespace north
