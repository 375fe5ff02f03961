#include "diamond.h"

Device::~Device() = default;
int Device::id() const { return 1; }
int Terminal::id() const { return 7; }
int id_of(const Device& device) { return device.id(); }
