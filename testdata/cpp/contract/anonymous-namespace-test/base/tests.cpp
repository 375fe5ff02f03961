#include <gtest/gtest.h>

namespace {

class Basket : public testing::Test {
protected:
    static void SetUpTestSuite() { capacity = 10; }
    void SetUp() override { apples = 3; }
    static int capacity;
    int apples = 0;
};
int Basket::capacity = 0;

TEST_F(Basket, HasApples) { EXPECT_EQ(3, apples); }
TEST(Shelf, IsEmpty) { EXPECT_EQ(1, 1); }

}  // namespace
