#include "text.h"

#include <stdio.h>

std::string shout(std::string text) { return text + "!"; }

std::string first_line(const char* path) {
  char line[80] = "";
  if (FILE* file = fopen(path, "r")) {
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
  }
  return line;
}
