extern int (*hook)();

namespace {
int installed() { return 5; }

struct Installer {
    Installer() { hook = installed; }
} installer;
}  // namespace
