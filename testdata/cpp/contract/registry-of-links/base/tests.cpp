#include <gtest/gtest.h>
#include "link.h"

int plain();

TEST(Links, Total) { EXPECT_EQ(5, total()); }
TEST(Links, Plain) { EXPECT_EQ(1, plain()); }
