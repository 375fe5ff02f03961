#include <csetjmp>

static std::jmp_buf place;

[[noreturn]] static void leave() { std::longjmp(place, 3); }

int attempt() {
    int code = setjmp(place);
    if (code == 0) leave();
    return code;
}

int calm() { return 0; }
