#pragma once

struct Metre {
    int value;
    operator int() const;
    operator long() const = delete;
};

struct Foot {
    int value;
    operator int() const;
};
