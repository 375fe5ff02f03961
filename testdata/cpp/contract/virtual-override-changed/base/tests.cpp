#include <gtest/gtest.h>
#include "animal.h"

TEST(Animal, BirdHasTwoLegs) { EXPECT_EQ(2, make_bird()->legs()); }
TEST(Animal, DogHasFourLegs) { EXPECT_EQ(4, make_dog()->legs()); }
