// Preconditions. Breaking one is a bug in the caller, so the process ends; bad input is reported by exceptions
// or empty optionals instead.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace abacus {

inline void require(bool holds, const char* rule) {
  if (!holds) {
    std::fprintf(stderr, "abacus: broken precondition: %s\n", rule);
    std::abort();
  }
}

}  // namespace abacus
