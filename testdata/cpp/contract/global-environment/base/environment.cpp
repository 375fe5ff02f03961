#include <gtest/gtest.h>
#include <cstdlib>

class Service : public testing::Environment {
    void SetUp() override { setenv("SERVICE_STATE", "up", 1); }
};

static testing::Environment* const service = testing::AddGlobalTestEnvironment(new Service);
