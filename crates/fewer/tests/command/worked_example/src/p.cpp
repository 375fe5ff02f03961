#include "methods.h"

int p() {
    int first = 1;
    // Three lines
    // between two
    // edits.
    int second = 2;
    // Three lines
    // between two
    // edits.
    int third = 3;
    return first + second + third;
}
