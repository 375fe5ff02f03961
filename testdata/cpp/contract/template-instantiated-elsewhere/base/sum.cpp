#include "sum.h"

template <class T>
T Sum<T>::of(T a, T b) {
    return a + b;
}

template <class T>
T Product<T>::of(T a, T b) {
    return a * b;
}

template struct Sum<int>;
template struct Product<int>;
