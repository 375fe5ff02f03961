#include <gtest/gtest.h>

const wchar_t* greeting();
const wchar_t* farewell();

TEST(WideText, Greeting) { EXPECT_STREQ(L"hello", greeting()); }
TEST(WideText, Farewell) { EXPECT_STREQ(L"goodbye", farewell()); }
