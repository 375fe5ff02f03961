#include <gtest/gtest.h>
#include <stdexcept>

int area(int width, int height);

// Rectangles.
TEST(Area, OfARectangle) { EXPECT_EQ(6, area(2, 3)); }

class Board : public testing::Test {
protected:
    int width = 4;
};

TEST_F(Board, HasAnArea) {
    ASSERT_GT(width, 0);
    EXPECT_EQ(16, area(width, width)) << "width " << width;
}

TEST_F(Board, Refuses) { EXPECT_THROW(throw std::runtime_error("no"), std::runtime_error); }
