// The area of a rectangle.
#include <cassert>

static int product(int width, int height) {
    int result = width * height;
    return result;
}

int area(int width, int height) {
    assert(width >= 0);
    return product(width, height);  // no overflow check
}
