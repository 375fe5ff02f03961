#include <gtest/gtest.h>
#include "abc.h"

TEST(Example, TestA) {
    A a;
    EXPECT_EQ(5, fun(&a));
}

TEST(Example, TestB) {
    B b;
    EXPECT_EQ(20, fun(&b));
}

TEST(Example, TestC) {
    C c;
    EXPECT_EQ(5, fun(&c));
}
