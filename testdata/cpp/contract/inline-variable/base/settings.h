#pragma once

inline int retries = 3;
inline int backoff = 10;
