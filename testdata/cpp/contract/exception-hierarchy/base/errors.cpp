#include "errors.h"

void overflow() { throw Overflow(); }
void underflow() { throw Underflow(); }

bool is_fault(void (*action)()) {
    try {
        action();
    } catch (const Fault&) {
        return true;
    } catch (...) {
    }
    return false;
}
