#include "settings.h"

int attempts() { return retries + 1; }
int wait_time() { return backoff; }
