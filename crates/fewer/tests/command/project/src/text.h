#pragma once
#include <string>
std::string shout(std::string text);
std::string first_line(const char* path);
