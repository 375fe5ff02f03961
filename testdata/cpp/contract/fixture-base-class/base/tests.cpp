#include <gtest/gtest.h>
#include "base.h"

class HttpTest : public ServerTest {};

TEST_F(HttpTest, Port) { EXPECT_EQ(80, port); }

class ClientTest : public testing::Test {};

TEST_F(ClientTest, Works) { EXPECT_EQ(1, 1); }
