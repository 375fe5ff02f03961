int measure() { return 8; }
int fixed() { return 1; }
