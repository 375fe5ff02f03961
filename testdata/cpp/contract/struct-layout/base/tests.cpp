#include <gtest/gtest.h>
#include "record.h"

TEST(Record, HoldsTwoIntegers) { EXPECT_EQ(2 * sizeof(int), record_size()); }

TEST(Other, HasAnId) {
    Other other{4};
    EXPECT_EQ(4, id_of(other));
}
