#pragma once
#include <functional>

std::function<int(int)> discount(int percent);
std::function<int(int)> surcharge(int amount);
