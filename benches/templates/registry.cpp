#include "@library@/registry.h"

#include <utility>

namespace atlas::@library@ {

std::vector<std::int64_t> Stage::trace(std::int64_t value) const {
  std::vector<std::int64_t> values{value};
  for (int step = 0; step < priority(); ++step) {
    values.push_back(apply(values.back()));
  }
  return values;
}

std::string Stage::describe() const {
  return joined({"@library@", name(), std::to_string(priority())}, ":");
}

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

void Registry::add(const std::string& name, Maker maker) {
  if (!makers_.emplace(name, std::move(maker)).second) {
    throw Error("registered twice: " + name, @code@);
  }
}

bool Registry::contains(const std::string& name) const { return makers_.count(name) != 0; }

std::unique_ptr<Stage> Registry::create(const std::string& name) const {
  auto found = makers_.find(name);
  if (found == makers_.end()) throw Error("unknown stage: " + name, @code@ + 1);
  return found->second();
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  names.reserve(makers_.size());
  for (const auto& entry : makers_) names.push_back(entry.first);
  return names;
}

}  // namespace atlas::@library@
