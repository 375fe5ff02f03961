__attribute__((noinline)) int fresh_context() { return 12; }

thread_local int context = fresh_context();
