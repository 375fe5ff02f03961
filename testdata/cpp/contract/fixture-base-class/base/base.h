#pragma once
#include <gtest/gtest.h>

class ServerTest : public testing::Test {
protected:
    void SetUp() override;
    int port = 0;
};
