#include <stdexcept>

static int check(int limit) {
    if (limit > 100) throw std::runtime_error("limit");
    return limit;
}

static int checked = check(10);

int limit() { return checked; }
