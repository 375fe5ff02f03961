#pragma once
#include "@library@/registry.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
@includes@
namespace atlas::@library@ {

// Entries by name; listeners hear of every change.
class @Class@ {
 public:
  struct Event {
    enum class Kind { Added, Changed, Removed } kind;
    std::string name;
    std::int64_t amount;
  };
  using Listener = std::function<void(const Event&)>;

  @Class@();
  ~@Class@();
  @Class@(const @Class@&) = delete;
  @Class@& operator=(const @Class@&) = delete;

  std::size_t listen(Listener listener);
  void put(const std::string& name, std::int64_t amount);
  bool remove(const std::string& name);
  std::optional<std::int64_t> amount(const std::string& name) const;
  std::int64_t total() const;
  std::vector<std::string> names() const;
  std::int64_t compute(const std::string& operation, std::int64_t value) const;

 private:
  class Entry;
  void tell(Event::Kind kind, const std::string& name, std::int64_t amount) const;

  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
  std::vector<Listener> listeners_;
};

inline std::int64_t @unit@_amount_or(const @Class@& service, const std::string& name, std::int64_t fallback) {
  return service.amount(name).value_or(fallback);
}

@declarations@
}  // namespace atlas::@library@
