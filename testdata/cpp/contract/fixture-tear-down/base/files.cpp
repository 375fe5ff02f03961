#include "files.h"

int open_files() { return 1; }
