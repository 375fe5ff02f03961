#include <gtest/gtest.h>
#include "command.h"

int version();

TEST(Commands, RunAll) { EXPECT_EQ(1, run_all()); }
TEST(Commands, Version) { EXPECT_EQ(3, version()); }
