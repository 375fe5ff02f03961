#include "gear.h"

int Gear::ratio() const { return 1; }
int LowGear::ratio() const { return 4; }
int apply(const Gear& gear, int (Gear::*member)() const) { return (gear.*member)(); }
