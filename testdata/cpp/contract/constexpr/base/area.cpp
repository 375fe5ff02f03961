#include "square.h"

int area() {
    constexpr int side = square(4);
    return side;
}

int volume() {
    constexpr int side = cube(2);
    return side;
}
