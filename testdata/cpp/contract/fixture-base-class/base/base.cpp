#include "base.h"

void ServerTest::SetUp() { port = 80; }
