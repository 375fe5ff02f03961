static const char* name(int i) { return i ? "second" : "first"; }

const char* first() { return name(0); }

const char* second() { return name(1); }
