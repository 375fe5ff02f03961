#include <gtest/gtest.h>
#include "traits.h"

template <class T>
class Sizes : public testing::Test {};

using Kinds = testing::Types<int, long>;
TYPED_TEST_SUITE(Sizes, Kinds);

TYPED_TEST(Sizes, Match) { EXPECT_EQ(sizeof(TypeParam), static_cast<std::size_t>(Traits<TypeParam>::size())); }
