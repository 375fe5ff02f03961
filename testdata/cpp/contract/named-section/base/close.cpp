#include "command.h"

static int close_it() { return 10; }
COMMAND(close_it);
