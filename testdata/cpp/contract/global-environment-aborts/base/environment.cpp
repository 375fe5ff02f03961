int connect() { return 1; }
