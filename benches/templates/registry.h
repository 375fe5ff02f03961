#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
@includes@
namespace atlas::@library@ {

// Raised by everything in this library that cannot go on.
class Error : public std::runtime_error {
 public:
  Error(const std::string& what, int code) : std::runtime_error("@library@: " + what), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

// One step of a pipeline; units derive from it and from each other.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual std::string name() const = 0;
  virtual std::int64_t apply(std::int64_t value) const = 0;
  virtual int priority() const { return 1; }
  virtual std::vector<std::int64_t> trace(std::int64_t value) const;
  virtual std::string describe() const;
};

// Makers of stages by name, filled by the static initialisers of the units.
class Registry {
 public:
  using Maker = std::function<std::unique_ptr<Stage>()>;

  static Registry& instance();
  void add(const std::string& name, Maker maker);
  bool contains(const std::string& name) const;
  std::unique_ptr<Stage> create(const std::string& name) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, Maker> makers_;
};

template <class S>
struct Registration {
  explicit Registration(const char* name) {
    Registry::instance().add(name, [] { return std::make_unique<S>(); });
  }
};

inline std::int64_t clamp_to(std::int64_t value, std::int64_t low, std::int64_t high) {
  if (low > high) throw Error("empty range", @code@);
  return value < low ? low : (value > high ? high : value);
}

inline std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const auto& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace atlas::@library@
