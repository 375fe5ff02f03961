// Arithmetic on any built-in integer type. Keeping results in range is up to the caller.
#pragma once

#include <type_traits>

namespace abacus {

template <typename Int>
constexpr Int magnitude(Int value) {
  if constexpr (std::is_signed_v<Int>) {
    return value < 0 ? -value : value;
  } else {
    return value;
  }
}

template <typename Int>
constexpr Int greatest_common_divisor(Int a, Int b) {
  while (b != 0) {
    const Int rest = a % b;
    a = b;
    b = rest;
  }
  return magnitude(a);
}

template <typename Int>
constexpr Int least_common_multiple(Int a, Int b) {
  if (a == 0 || b == 0) {
    return 0;
  }
  return magnitude(a * b) / greatest_common_divisor(a, b);
}

// base to the power of exponent, by repeated squaring.
template <typename Int>
constexpr Int power(Int base, unsigned exponent) {
  Int result = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1) {
      result *= base;
    }
    exponent /= 2;
    if (exponent > 0) {
      base *= base;
    }
  }
  return result;
}

// The quotient rounded towards minus infinity: -7 by 2 is -4.
template <typename Int>
constexpr Int floor_divide(Int dividend, Int divisor) {
  const Int quotient = dividend / divisor;
  if constexpr (std::is_signed_v<Int>) {
    const bool inexact = dividend % divisor != 0;
    return inexact && (dividend < 0) != (divisor < 0) ? quotient - 1 : quotient;
  } else {
    return quotient;
  }
}

// The largest integer whose square is not above value.
template <typename Int>
constexpr Int square_root(Int value) {
  Int low = 0;
  Int high = value / 2 + 1;
  while (low < high) {
    const Int middle = low + (high - low + 1) / 2;
    if (middle <= value / middle) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace abacus
