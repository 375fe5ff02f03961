#include <gtest/gtest.h>

static int size() { return 2; }

TEST(Same, Name) { EXPECT_EQ(2, size()); }
