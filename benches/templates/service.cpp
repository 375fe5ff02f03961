#include "@library@/@unit@.h"
@includes@

#include <algorithm>
#include <numeric>
#include <utility>

namespace atlas::@library@ {
namespace {

constexpr std::int64_t kRevision = 1;

std::int64_t twice(std::int64_t value) { return value * 2; }
std::int64_t shifted(std::int64_t value) { return value + @a@; }
std::int64_t called(std::int64_t value) { return @call@; }

struct Operation {
  const char* name;
  std::int64_t (*run)(std::int64_t);
};

const Operation kOperations[] = {{"twice", twice}, {"shifted", shifted}, {"called", called}};

}  // namespace

class @Class@::Entry {
 public:
  explicit Entry(std::int64_t amount) : amount_(amount) {}
  std::int64_t amount() const { return amount_; }
  std::int64_t replace(std::int64_t amount) { return std::exchange(amount_, amount); }

 private:
  std::int64_t amount_;
};

@Class@::@Class@() = default;
@Class@::~@Class@() = default;

std::size_t @Class@::listen(Listener listener) {
  if (!listener) throw Error("an empty listener of @unit@", @b@);
  listeners_.push_back(std::move(listener));
  return listeners_.size();
}

void @Class@::put(const std::string& name, std::int64_t amount) {
  auto [entry, added] = entries_.try_emplace(name, nullptr);
  if (added) {
    entry->second = std::make_unique<Entry>(amount);
    tell(Event::Kind::Added, name, amount);
  } else if (entry->second->replace(amount) != amount) {
    tell(Event::Kind::Changed, name, amount);
  }
}

bool @Class@::remove(const std::string& name) {
  auto found = entries_.find(name);
  if (found == entries_.end()) return false;
  const std::int64_t amount = found->second->amount();
  entries_.erase(found);
  tell(Event::Kind::Removed, name, amount);
  return true;
}

std::optional<std::int64_t> @Class@::amount(const std::string& name) const {
  auto found = entries_.find(name);
  if (found == entries_.end()) return std::nullopt;
  return found->second->amount();
}

std::int64_t @Class@::total() const {
  return std::accumulate(entries_.begin(), entries_.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second->amount(); });
}

std::vector<std::string> @Class@::names() const {
  std::vector<std::string> names;
  std::transform(entries_.begin(), entries_.end(), std::back_inserter(names),
                 [](const auto& entry) { return entry.first; });
  std::sort(names.begin(), names.end());
  return names;
}

std::int64_t @Class@::compute(const std::string& operation, std::int64_t value) const {
  for (const auto& candidate : kOperations) {
    if (operation == candidate.name) return candidate.run(value);
  }
  throw Error("@unit@ has no operation " + operation, @c@);
}

void @Class@::tell(Event::Kind kind, const std::string& name, std::int64_t amount) const {
  const Event event{kind, name, amount};
  for (const auto& listener : listeners_) listener(event);
}

@definitions@
}  // namespace atlas::@library@
