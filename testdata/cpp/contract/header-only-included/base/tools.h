#pragma once

#define SPARE 1

enum Spare { SPARE_A = 1 };

inline int used(int x) { return x + 1; }
inline int unused(int x) { return x + 2; }

template <class T>
T unused_template(T x) {
    return x + 3;
}

class Unused {
public:
    virtual ~Unused() = default;
    virtual int value() { return 4; }
};
