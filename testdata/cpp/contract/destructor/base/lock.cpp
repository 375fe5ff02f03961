#include "lock.h"

int held = 0;
static int tick_count = 0;

Lock::Lock() { ++held; }
Lock::~Lock() { --held; }
Watch::~Watch() { ++tick_count; }
int ticks() { return tick_count; }
