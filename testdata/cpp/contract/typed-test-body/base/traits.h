#pragma once

template <class T>
struct Traits;

template <>
struct Traits<int> {
    static int size() { return 4; }
};

template <>
struct Traits<long> {
    static int size() { return 8; }
};
