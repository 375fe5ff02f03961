#include <new>
#include <stdexcept>

void fail();

int guarded() {
    try {
        fail();
    } catch (const std::out_of_range&) {
        return 1;
    } catch (...) {
        return 2;
    }
    return 0;
}

int unguarded() { return 0; }
