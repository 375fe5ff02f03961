#include <gtest/gtest.h>
#include "duplex.h"

TEST(Duplex, WritesThroughTheSecondBase) {
    Duplex duplex;
    EXPECT_EQ(20, write_to(&duplex));
}

TEST(Writer, Writes) {
    Writer writer;
    EXPECT_EQ(2, write_to(&writer));
}
