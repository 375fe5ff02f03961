#include <gtest/gtest.h>
#include "registry.h"

int twice(int x);

TEST(Registry, MakesAnEllipse) { EXPECT_EQ(7, create("ellipse")); }
TEST(Twice, Works) { EXPECT_EQ(4, twice(2)); }
