#include <gtest/gtest.h>
#include "traits.h"

template <class T>
class Bounded : public testing::Test {};

TYPED_TEST_SUITE_P(Bounded);

TYPED_TEST_P(Bounded, HasALimit) { EXPECT_LT(Limit<TypeParam>::value(), 32768); }
TYPED_TEST_P(Bounded, IsNarrow) { EXPECT_LT(sizeof(TypeParam), 4u); }

REGISTER_TYPED_TEST_SUITE_P(Bounded, HasALimit, IsNarrow);

using Kinds = testing::Types<char, short>;
INSTANTIATE_TYPED_TEST_SUITE_P(Mine, Bounded, Kinds);
