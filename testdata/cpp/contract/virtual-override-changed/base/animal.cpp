#include "animal.h"

namespace {
struct Bird : Animal {
    int legs() const override { return 2; }
};
struct Dog : Animal {
    int legs() const override { return 4; }
};
}  // namespace

std::unique_ptr<Animal> make_bird() { return std::make_unique<Bird>(); }
std::unique_ptr<Animal> make_dog() { return std::make_unique<Dog>(); }
