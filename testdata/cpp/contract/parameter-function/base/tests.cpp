#include <gtest/gtest.h>
#include <vector>

std::vector<int> table();
std::vector<int> other_table();

class Even : public testing::TestWithParam<int> {};

TEST_P(Even, IsEven) { EXPECT_EQ(0, GetParam() % 2); }

INSTANTIATE_TEST_SUITE_P(Table, Even, testing::ValuesIn(table()));

TEST(Table, OfOthers) { EXPECT_EQ(2u, other_table().size()); }
