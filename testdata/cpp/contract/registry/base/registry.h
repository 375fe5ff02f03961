#pragma once
#include <string>

using Factory = int (*)();

bool enrol(const std::string& name, Factory factory);
int create(const std::string& name);
