#include "@library@/@unit@.h"
@includes@

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>

namespace atlas::@library@ {
namespace {

constexpr std::int64_t kRevision = 1;

constexpr std::array<@Class@Row, @Class@::kRows> kTable{{
@rows@}};

const std::map<std::string, @Class@Level> kLevels{
    {"low", @Class@Level::Low},
    {"medium", @Class@Level::Medium},
    {"high", @Class@Level::High},
    {"extreme", @Class@Level::Extreme},
};

}  // namespace

const char* to_string(@Class@Level level) {
  switch (level) {
    case @Class@Level::Low: return "low";
    case @Class@Level::Medium: return "medium";
    case @Class@Level::High: return "high";
    case @Class@Level::Extreme: return "extreme";
  }
  throw Error("no such level in @unit@", @a@);
}

const @Class@Row* @Class@::find(std::string_view key) {
  auto found = std::find_if(kTable.begin(), kTable.end(), [&](const @Class@Row& row) { return key == row.key; });
  return found == kTable.end() ? nullptr : &*found;
}

@Class@Level @Class@::level(const @Class@Row& row) {
  const double scaled = row.weight * static_cast<double>(row.value);
  if (scaled < @b@.5) return kLevels.at("low");
  if (scaled < @b@.5 * 4) return kLevels.at("medium");
  return scaled < @b@.5 * 16 ? kLevels.at("high") : kLevels.at("extreme");
}

std::int64_t @Class@::total() const {
  return std::accumulate(kTable.begin(), kTable.end(), std::int64_t{0},
                         [](std::int64_t sum, const @Class@Row& row) { return sum + row.value; });
}

std::map<std::string, std::int64_t> @Class@::by_key() const {
  std::map<std::string, std::int64_t> values;
  for (const auto& row : kTable) values.emplace(row.key, row.value);
  return values;
}

std::map<@Class@Level, std::vector<std::string>> @Class@::by_level() const {
  std::map<@Class@Level, std::vector<std::string>> keys;
  for (const auto& row : kTable) keys[level(row)].emplace_back(row.key);
  for (auto& entry : keys) std::sort(entry.second.begin(), entry.second.end());
  return keys;
}

std::string @Class@::render(char fill) const {
  std::ostringstream out;
  const std::int64_t value = @x@;
  for (const auto& row : kTable) {
    std::string key = row.key;
    key.resize(@c@, fill);
    out << key << '=' << row.value << ' ' << to_string(level(row)) << '\n';
  }
  out << "check " << @call@ << '\n';
  return out.str();
}

@definitions@
}  // namespace atlas::@library@
