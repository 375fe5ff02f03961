#include <gtest/gtest.h>
#include "gear.h"

TEST(Gear, Low) {
    LowGear gear;
    EXPECT_EQ(4, apply(gear, &Gear::ratio));
}

TEST(Gear, Direct) {
    Gear gear;
    EXPECT_EQ(1, apply(gear, &Gear::ratio));
}
