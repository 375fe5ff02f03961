#pragma once

struct Command {
    int (*run)();
};

#define COMMAND(function) \
    __attribute__((section("commands"), used)) static const Command entry_##function = {function}

int run_all();
