#pragma once

struct Link {
    explicit Link(int (*check)());
    int (*check)();
    Link* next;
};

int total();
