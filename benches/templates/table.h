#pragma once
#include "@library@/registry.h"
#include <map>
#include <string>
#include <string_view>
@includes@
namespace atlas::@library@ {

struct @Class@Row {
  const char* key;
  std::int64_t value;
  double weight;
};

enum class @Class@Level { Low, Medium, High, Extreme };

const char* to_string(@Class@Level level);

class @Class@ {
 public:
  static constexpr std::size_t kRows = @count@;

  static const @Class@Row* find(std::string_view key);
  static @Class@Level level(const @Class@Row& row);

  @Class@() = default;
  std::int64_t total() const;
  std::map<std::string, std::int64_t> by_key() const;
  std::map<@Class@Level, std::vector<std::string>> by_level() const;
  std::string render(char fill) const;
};

inline bool @unit@_knows(std::string_view key) { return @Class@::find(key) != nullptr; }

@declarations@
}  // namespace atlas::@library@
