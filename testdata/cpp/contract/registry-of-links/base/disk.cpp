#include "link.h"

static int disk() { return 5; }
static Link link(disk);

int plain() { return 1; }
