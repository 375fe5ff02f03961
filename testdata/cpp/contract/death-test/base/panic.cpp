#include <cstdio>
#include <cstdlib>

void panic() {
    std::fputs("panic: out of paper\n", stderr);
    std::abort();
}

void retreat() {
    std::fputs("retreat: no way on\n", stderr);
    std::abort();
}
