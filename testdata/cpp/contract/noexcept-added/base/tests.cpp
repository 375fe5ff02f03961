#include <gtest/gtest.h>
#include <stdexcept>

void risky(int code);
int safe();

TEST(Risky, Throws) { EXPECT_THROW(risky(1), std::runtime_error); }
TEST(Risky, Safe) { EXPECT_EQ(1, safe()); }
