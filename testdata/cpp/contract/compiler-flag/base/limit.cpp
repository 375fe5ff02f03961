int limit() {
#ifdef SMALL
    return 1;
#else
    return 100;
#endif
}

int floor_of() { return 0; }
