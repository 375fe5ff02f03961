#include <cmath>

#include "abacus/functions.hpp"

namespace abacus {
namespace {

constexpr double pi = 3.14159265358979323846;

double sine(const double* x, std::size_t) { return std::sin(x[0]); }
double cosine(const double* x, std::size_t) { return std::cos(x[0]); }
double tangent(const double* x, std::size_t) { return std::tan(x[0]); }
double arc_tangent(const double* x, std::size_t) { return std::atan(x[0]); }
double angle_of(const double* x, std::size_t) { return std::atan2(x[0], x[1]); }
double hypotenuse(const double* x, std::size_t) { return std::hypot(x[0], x[1]); }
double to_radians(const double* x, std::size_t) { return x[0] * pi / 180; }
double to_degrees(const double* x, std::size_t) { return x[0] * 180 / pi; }

}  // namespace

const FunctionPack trigonometric_functions("trigonometric", {
    {"sin", 1, sine, "cos(x)"},
    {"cos", 1, cosine, "-sin(x)"},
    {"tan", 1, tangent, "1 / cos(x) ^ 2"},
    {"atan", 1, arc_tangent, "1 / (1 + x ^ 2)"},
    {"atan2", 2, angle_of, ""},
    {"hypot", 2, hypotenuse, ""},
    {"rad", 1, to_radians, ""},
    {"deg", 1, to_degrees, ""},
});

}  // namespace abacus
