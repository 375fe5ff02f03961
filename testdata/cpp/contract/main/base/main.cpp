#include <gtest/gtest.h>
#include <cstdlib>

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    setenv("RUN_MODE", "strict", 1);
    return RUN_ALL_TESTS();
}
