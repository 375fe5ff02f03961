#pragma once

template <class T>
int weight(const T&) {
    return 1;
}

namespace units {
struct Kilo {};
struct Mega {};
}  // namespace units

template <class T>
int load(const T& value) {
    return weight(value) * 10;
}
