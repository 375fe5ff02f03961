#include <gtest/gtest.h>
#include <string>

class Named : public testing::TestWithParam<int> {};

TEST_P(Named, Works) {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    EXPECT_EQ("Works/number", name.substr(0, 12));
}

INSTANTIATE_TEST_SUITE_P(All, Named, testing::Values(1, 2), [](const testing::TestParamInfo<int>& info) {
    return "number" + std::to_string(info.param);
});

TEST(Plain, Works) { EXPECT_EQ(1, 1); }
