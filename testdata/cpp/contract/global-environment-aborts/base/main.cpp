#include <gtest/gtest.h>

int connect();

class Connection : public testing::Environment {
    void SetUp() override { ASSERT_EQ(1, connect()); }
};

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::AddGlobalTestEnvironment(new Connection);
    return RUN_ALL_TESTS();
}
