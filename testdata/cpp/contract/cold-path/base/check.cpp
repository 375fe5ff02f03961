#include <stdexcept>
#include <string>

int check(int value) {
    if (__builtin_expect(value < 0, 0)) throw std::runtime_error("negative: " + std::to_string(value));
    return value + 1;
}

int verify(int value) {
    if (__builtin_expect(value > 9, 0)) throw std::runtime_error("too large: " + std::to_string(value));
    return value + 2;
}
