#include <gtest/gtest.h>

int leaks();
int handles();

class Leaks : public testing::Test {
protected:
    static void TearDownTestCase() { EXPECT_EQ(0, leaks()); }
};

TEST_F(Leaks, None) { EXPECT_EQ(1, 1); }
TEST(Handles, Three) { EXPECT_EQ(3, handles()); }
