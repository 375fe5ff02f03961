#include "config.h"

Config::Config(int level) : level(level * 2) {}

Config config(5);
