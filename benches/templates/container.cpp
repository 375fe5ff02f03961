#include "@library@/@unit@.h"
@includes@

namespace atlas::@library@ {
namespace {

constexpr std::int64_t kRevision = 1;
thread_local std::size_t recorded = 0;

}  // namespace

template class @Class@<std::int64_t>;

void @Class@Statistics::record(const std::string& name, std::int64_t value) {
  if (name.empty()) throw Error("a record of @unit@ without a name", @d@);
  records_.push({name, value + (@call@) * 0});
  ++recorded;
}

std::int64_t @Class@Statistics::sum_of(const std::string& name) const {
  auto values = records_.map([&](const auto& record) { return record.first == name ? record.second : 0; });
  return values.sum();
}

std::string @Class@Statistics::longest_name() const {
  auto names = records_.map([](const auto& record) { return record.first; }).sorted();
  auto found = std::max_element(names.begin(), names.end(),
                                [](const auto& left, const auto& right) { return left.size() < right.size(); });
  return found == names.end() ? std::string("none") : *found;
}

double @Class@Statistics::average() const {
  if (records_.empty()) return 0.0;
  auto values = records_.map([](const auto& record) { return static_cast<double>(record.second); });
  return values.sum() / static_cast<double>(values.size());
}

@definitions@
}  // namespace atlas::@library@
