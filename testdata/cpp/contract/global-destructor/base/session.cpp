#include <cstdlib>

namespace {
struct Session {
    Session() : open(true) {}
    ~Session() { close(); }
    void close() { open = false; }
    bool open;
};

Session session;
}  // namespace
