#include <algorithm>
#include <cmath>

#include "abacus/functions.hpp"

namespace abacus {
namespace {

double absolute(const double* x, std::size_t) { return std::abs(x[0]); }
double square_root(const double* x, std::size_t) { return std::sqrt(x[0]); }
double exponential(const double* x, std::size_t) { return std::exp(x[0]); }
double natural_logarithm(const double* x, std::size_t) { return std::log(x[0]); }
double logarithm(const double* x, std::size_t) { return std::log(x[0]) / std::log(x[1]); }
double clamp(const double* x, std::size_t) { return std::max(x[1], std::min(x[0], x[2])); }
double least(const double* x, std::size_t count) { return *std::min_element(x, x + count); }
double greatest(const double* x, std::size_t count) { return *std::max_element(x, x + count); }

double sum(const double* x, std::size_t count) {
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    total += x[i];
  }
  return total;
}

}  // namespace

const FunctionPack basic_functions("basic", {
    {"abs", 1, absolute, ""},
    {"sqrt", 1, square_root, "1 / (2 * sqrt(x))"},
    {"exp", 1, exponential, "exp(x)"},
    {"ln", 1, natural_logarithm, "1 / x"},
    {"log", 2, logarithm, ""},
    {"clamp", 3, clamp, ""},
    {"min", Function::any_number, least, ""},
    {"max", Function::any_number, greatest, ""},
    {"sum", Function::any_number, sum, ""},
});

}  // namespace abacus
