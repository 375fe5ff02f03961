// A program that does not want to end. With STAYS=list or STAYS=run it ignores SIGTERM then, and so do a child, one that
// has left the process group, one that has left its parent too, and one that has given up its environment; with LONELY
// that one has left the group as well.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

static void wait_forever() {
    for (;;) pause();
}

static void stay() {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (fork() == 0) wait_forever();
    if (fork() == 0) {
        setsid();
        wait_forever();
    }
    if (fork() == 0) {
        setsid();
        if (fork() == 0) wait_forever();
        _exit(0);
    }
    if (fork() == 0) {
        if (getenv("LONELY")) setsid();
        char* const arguments[] = {getenv("SLEEP"), const_cast<char*>("1000"), nullptr};
        char* const nothing[] = {nullptr};
        execve(arguments[0], arguments, nothing);
        _exit(1);
    }
    usleep(100000);
    close(creat(getenv("BEGUN"), 0600));
    wait_forever();
}

TEST(Stubborn, Ends) {}
TEST(Stubborn, Stays) {
    if (getenv("STAYS") && strcmp(getenv("STAYS"), "run") == 0) stay();
}

int main(int count, char** arguments) {
    bool lists = false;
    for (int i = 1; i < count; i++) lists |= strcmp(arguments[i], "--gtest_list_tests") == 0;
    if (lists && getenv("STAYS") && strcmp(getenv("STAYS"), "list") == 0) stay();
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
