#include <gtest/gtest.h>
#include "limits.h"

TEST(Screen, Width) {
    int width = WIDTH;
    EXPECT_EQ(80, width);
}

TEST(Screen, Height) {
    int height = HEIGHT;
    EXPECT_EQ(25, height);
}
