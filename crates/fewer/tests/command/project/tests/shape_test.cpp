#include <gtest/gtest.h>

#include "shape.h"

TEST(Shape, Area) { EXPECT_EQ(6, area(2, 3)); }
TEST(Shape, Perimeter) { EXPECT_EQ(10, perimeter(2, 3)); }
TEST(Shape, DISABLED_Volume) { FAIL(); }
