int leaks() { return 0; }
int handles() { return 3; }
