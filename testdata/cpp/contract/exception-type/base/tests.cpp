#include <gtest/gtest.h>
#include <stdexcept>

void parse();
void load();

TEST(Errors, Parse) { EXPECT_THROW(parse(), std::logic_error); }
TEST(Errors, Load) { EXPECT_THROW(load(), std::runtime_error); }
