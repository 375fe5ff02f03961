int two() { return 2; }
int three() { return 3; }
