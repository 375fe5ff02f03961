#include <gtest/gtest.h>

class Measured : public testing::Test {
public:
    explicit Measured(int limit) : limit(limit) {}
    void TestBody() override { EXPECT_LE(limit, 10); }

private:
    int limit;
};

TEST(Plain, Works) { EXPECT_EQ(1, 1); }

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::RegisterTest("Dynamic", "Measured", nullptr, nullptr, __FILE__, __LINE__, [] { return new Measured(10); });
    return RUN_ALL_TESTS();
}
