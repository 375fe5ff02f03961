#include "units.h"

int load_of_kilo() { return load(units::Kilo{}); }
int load_of_mega() { return load(units::Mega{}); }
