#include <gtest/gtest.h>
#include "diamond.h"

TEST(Diamond, Terminal) {
    Terminal terminal;
    EXPECT_EQ(7, id_of(terminal));
}

TEST(Diamond, Input) {
    Input input;
    EXPECT_EQ(1, id_of(input));
}
