#pragma once

constexpr int square(int x) { return x * x; }
constexpr int cube(int x) { return x * x * x; }
