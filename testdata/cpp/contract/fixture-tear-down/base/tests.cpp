#include <gtest/gtest.h>
#include "files.h"

class Files : public testing::Test {
protected:
    void TearDown() override { EXPECT_EQ(1, open_files()); }
};

TEST_F(Files, AreClosed) { EXPECT_EQ(1, 1); }

class Sockets : public testing::Test {};

TEST_F(Sockets, AreClosed) { EXPECT_EQ(1, 1); }
