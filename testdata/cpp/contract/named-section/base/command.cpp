#include "command.h"

extern "C" const Command __start_commands[] __attribute__((visibility("hidden")));
extern "C" const Command __stop_commands[] __attribute__((visibility("hidden")));

int run_all() {
    int sum = 0;
    for (const Command* command = __start_commands; command != __stop_commands; ++command) sum += command->run();
    return sum;
}

int version() { return 3; }
