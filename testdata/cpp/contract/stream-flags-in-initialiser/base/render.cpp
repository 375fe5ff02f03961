#include <iostream>

bool renders_hexadecimal() { return (std::cout.flags() & std::ios_base::hex) != 0; }
