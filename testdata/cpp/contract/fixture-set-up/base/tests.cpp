#include <gtest/gtest.h>
#include "twice.h"

class Store : public testing::Test {
protected:
    void SetUp() override { stock = 5; }
    int stock = 0;
};

TEST_F(Store, HasStock) { EXPECT_EQ(5, stock); }
TEST_F(Store, DoublesStock) { EXPECT_EQ(10, twice(stock)); }

class Ledger : public testing::Test {
protected:
    void SetUp() override { balance = 7; }
    int balance = 0;
};

TEST_F(Ledger, HasBalance) { EXPECT_EQ(7, balance); }
