#include "duplex.h"

int Duplex::write() { return 20; }
int write_to(Writer* writer) { return writer->write(); }
