#include <gtest/gtest.h>

void sort(int* values, int count);
int total(const int* values, int count);

TEST(Order, Sorts) {
    int values[] = {3, 1, 2};
    sort(values, 3);
    EXPECT_EQ(1, values[0]);
}

TEST(Order, Totals) {
    int values[] = {3, 1, 2};
    EXPECT_EQ(6, total(values, 3));
}
