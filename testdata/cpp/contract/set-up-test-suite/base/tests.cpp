#include <gtest/gtest.h>

class Shared : public testing::Test {
protected:
    static void SetUpTestSuite() { resource = 5; }
    static int resource;
};
int Shared::resource = 0;

TEST_F(Shared, HasItsResource) { EXPECT_EQ(5, resource); }

class Alone : public testing::Test {
protected:
    static void SetUpTestSuite() { resource = 6; }
    static int resource;
};
int Alone::resource = 0;

TEST_F(Alone, HasItsResource) { EXPECT_EQ(6, resource); }
