#include <iostream>

static const std::ios_base::fmtflags before = std::cout.setf(std::ios_base::dec, std::ios_base::basefield);
