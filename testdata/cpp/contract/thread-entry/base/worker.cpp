#include <thread>

static void work(int* result) { *result = 6; }

int run_worker() {
    int result = 0;
    std::thread worker(work, &result);
    worker.join();
    return result;
}

int run_here() { return 5; }
