#include <gtest/gtest.h>
#include "lock.h"

TEST(Lock, IsReleased) {
    { Lock lock; }
    EXPECT_EQ(0, held);
}

TEST(Watch, Ticks) {
    { Watch watch; }
    EXPECT_EQ(1, ticks());
}
