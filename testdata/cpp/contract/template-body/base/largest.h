#pragma once

template <class T>
T largest(T a, T b) {
    return a > b ? a : b;
}

template <class T>
T smallest(T a, T b) {
    return a < b ? a : b;
}
