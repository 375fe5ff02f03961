#include "registry.h"

#include <map>

static std::map<std::string, Factory>& entries() {
    static std::map<std::string, Factory> all;
    return all;
}

bool enrol(const std::string& name, Factory factory) { return entries().emplace(name, factory).second; }

int create(const std::string& name) {
    auto found = entries().find(name);
    return found == entries().end() ? -1 : found->second();
}
