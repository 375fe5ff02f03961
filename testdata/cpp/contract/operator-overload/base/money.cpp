#include "money.h"

bool operator==(const Money& a, const Money& b) { return a.cents == b.cents; }
bool operator==(const Weight& a, const Weight& b) { return a.grams == b.grams; }
