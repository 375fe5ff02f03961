#include <gtest/gtest.h>
#include "metre.h"

TEST(Metre, ConvertsToCentimetres) {
    int centimetres = Metre{2};
    EXPECT_EQ(200, centimetres);
}

TEST(Foot, ConvertsToCentimetres) {
    int centimetres = Foot{2};
    EXPECT_EQ(60, centimetres);
}
