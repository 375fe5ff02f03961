module contract {
    exports p;
}
