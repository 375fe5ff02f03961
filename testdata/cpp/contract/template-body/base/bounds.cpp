#include "largest.h"

int upper(int a, int b) { return largest(a, b); }
double upper(double a, double b) { return largest(a, b); }
int lower(int a, int b) { return smallest(a, b); }
