#include <gtest/gtest.h>
#include "engine.h"

TEST(Engine, FirstAction) {
    Engine engine;
    EXPECT_EQ(1, perform(engine, first_action()));
}

TEST(Engine, Stop) {
    Engine engine;
    EXPECT_EQ(2, perform(engine, &Engine::stop));
}
