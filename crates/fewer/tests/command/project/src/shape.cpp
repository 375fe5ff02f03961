#include "shape.h"

#include <stdlib.h>
#include <unistd.h>

int area(int width, int height) {
  if (getenv("AREA_FAILS")) return -1;
  if (getenv("AREA_CRASHES")) abort();
  return width * height;
}

int perimeter(int width, int height) {
  if (const char* seconds = getenv("PERIMETER_SLEEPS")) sleep(atoi(seconds));
  return 2 * (width + height);
}
