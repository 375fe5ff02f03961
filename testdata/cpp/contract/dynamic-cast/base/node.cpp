#include "node.h"

bool printable(Node* node) { return dynamic_cast<Printable*>(node) != nullptr; }
