#pragma once

template <class T>
struct Sum {
    static T of(T a, T b);
};

template <class T>
struct Product {
    static T of(T a, T b);
};

extern template struct Sum<int>;
extern template struct Product<int>;
