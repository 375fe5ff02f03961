#include <cstdlib>

static int ascending(const void* a, const void* b) {
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void sort(int* values, int count) { std::qsort(values, count, sizeof(int), ascending); }

int total(const int* values, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += values[i];
    return sum;
}
