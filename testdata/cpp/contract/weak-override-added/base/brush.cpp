int brush() { return 7; }
