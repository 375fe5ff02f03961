#pragma once
#include <string>

static const std::string greeting = "hello";
