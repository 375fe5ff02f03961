int colour() { return 2; }
