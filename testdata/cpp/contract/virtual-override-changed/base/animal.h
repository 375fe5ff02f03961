#pragma once
#include <memory>

struct Animal {
    virtual ~Animal() = default;
    virtual int legs() const = 0;
};

std::unique_ptr<Animal> make_bird();
std::unique_ptr<Animal> make_dog();
