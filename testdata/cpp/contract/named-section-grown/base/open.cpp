#include "command.h"

static int open_it() { return 1; }
COMMAND(open_it);
