#pragma once

struct Fault {
    virtual ~Fault() = default;
};
struct Notice {
    virtual ~Notice() = default;
};
struct Overflow : Fault {
};
struct Underflow : Fault {
};

void overflow();
void underflow();
bool is_fault(void (*action)());
