#include <stdexcept>

__attribute__((noinline)) static void fail(int code) {
    if (code > 0) throw std::runtime_error("risky");
}

void risky(int code) { fail(code); }
int safe() { return 1; }
