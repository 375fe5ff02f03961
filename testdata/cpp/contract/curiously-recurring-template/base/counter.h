#pragma once

template <class Derived>
struct Counter {
    int step() const { return 1; }
    int twice() const {
        const auto& self = static_cast<const Derived&>(*this);
        return self.step() * 2;
    }
};

struct Slow : Counter<Slow> {
};

struct Fast : Counter<Fast> {
};
