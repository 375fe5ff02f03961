#include "record.h"

int count_of(const Record& record) { return record.count; }
int id_of(const Other& other) { return other.id; }
unsigned long record_size() { return sizeof(Record); }
