int seven() { return 7; }
