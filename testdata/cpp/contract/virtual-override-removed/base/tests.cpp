#include <gtest/gtest.h>
#include "shapes.h"

TEST(Outline, OfASquare) {
    Square square;
    EXPECT_EQ(40, outline(square));
}

TEST(Outline, OfACircle) {
    Circle circle;
    EXPECT_EQ(0, outline(circle));
}
