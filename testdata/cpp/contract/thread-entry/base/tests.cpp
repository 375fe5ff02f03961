#include <gtest/gtest.h>

int run_worker();
int run_here();

TEST(Worker, OnAThread) { EXPECT_EQ(6, run_worker()); }
TEST(Worker, Here) { EXPECT_EQ(5, run_here()); }
