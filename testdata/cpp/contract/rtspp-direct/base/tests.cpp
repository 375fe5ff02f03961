#include <gtest/gtest.h>
#include "abc.h"

TEST(Example, TestA) {
    A a;
    EXPECT_EQ(5, a.foo());
}

TEST(Example, TestB) {
    B b;
    EXPECT_EQ(20, b.foo());
}

TEST(Example, TestC) {
    C c;
    EXPECT_EQ(5, c.foo());
}
