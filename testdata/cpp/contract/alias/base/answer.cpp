extern "C" int answer_version_one() { return 42; }
extern "C" int answer() __attribute__((alias("answer_version_one")));
int question() { return 6; }
