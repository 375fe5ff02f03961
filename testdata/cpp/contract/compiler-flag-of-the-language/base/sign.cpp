int sign_of(char c) { return c < 0 ? -1 : 1; }
int zero() { return 0; }
