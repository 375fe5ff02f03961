#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

int check(int value);
int verify(int value);

static std::string complaint(int (*action)(int), int value) {
    try {
        action(value);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

TEST(Cold, Check) { EXPECT_EQ("negative: -1", complaint(check, -1)); }
TEST(Cold, Verify) { EXPECT_EQ("too large: 10", complaint(verify, 10)); }
