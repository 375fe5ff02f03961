#include <gtest/gtest.h>
#include "errors.h"

TEST(Faults, Overflow) { EXPECT_TRUE(is_fault(overflow)); }
TEST(Faults, Underflow) { EXPECT_TRUE(is_fault(underflow)); }
