#pragma once

int measure();

inline const int limit = measure();
