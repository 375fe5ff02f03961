#include <gtest/gtest.h>

template <class T>
class Width : public testing::Test {};

using Kinds = testing::Types<char, signed char>;
TYPED_TEST_SUITE(Width, Kinds);

TYPED_TEST(Width, IsOneByte) { EXPECT_EQ(1u, sizeof(TypeParam)); }

TEST(Plain, Works) { EXPECT_EQ(1, 1); }
