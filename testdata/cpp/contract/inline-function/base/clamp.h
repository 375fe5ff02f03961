#pragma once

inline int clamp(int x) { return x > 100 ? 100 : x; }
inline int twice(int x) { return x * 2; }
