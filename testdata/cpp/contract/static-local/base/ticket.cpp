int ticket() {
    static int next = 100;
    return next++;
}

int visitor() {
    static int next = 1;
    return next++;
}
