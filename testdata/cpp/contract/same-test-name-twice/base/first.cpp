#include <gtest/gtest.h>

static int size() { return 1; }

TEST(Same, Name) { EXPECT_EQ(1, size()); }
