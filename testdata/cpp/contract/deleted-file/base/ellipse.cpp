#include "registry.h"

static int make_ellipse() { return 7; }
static const bool enrolled = enrol("ellipse", make_ellipse);
