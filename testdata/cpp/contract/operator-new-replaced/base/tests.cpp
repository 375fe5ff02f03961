#include <gtest/gtest.h>

extern int allocations;

TEST(Memory, CountsOneAllocation) {
    int before = allocations;
    void* memory = ::operator new(16);
    EXPECT_EQ(before + 1, allocations);
    ::operator delete(memory);
}
