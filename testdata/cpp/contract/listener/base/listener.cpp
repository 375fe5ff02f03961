#include <gtest/gtest.h>

class Budget : public testing::EmptyTestEventListener {
    void OnTestEnd(const testing::TestInfo&) override { EXPECT_LT(used(), 10); }
    static int used() { return 5; }
};

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::UnitTest::GetInstance()->listeners().Append(new Budget);
    return RUN_ALL_TESTS();
}
