#pragma once

template <class T>
struct Limit;

template <>
struct Limit<char> {
    static int value() { return 127; }
};

template <>
struct Limit<short> {
    static int value() { return 32767; }
};
