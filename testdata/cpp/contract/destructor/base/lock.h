#pragma once

extern int held;

struct Lock {
    Lock();
    ~Lock();
};

struct Watch {
    ~Watch();
};

int ticks();
