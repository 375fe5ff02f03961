#pragma once
#include "@library@/registry.h"
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>
@includes@
namespace atlas::@library@ {

// Keeps the last `capacity` values it was given.
template <class T>
class @Class@ {
 public:
  explicit @Class@(std::size_t capacity = @a@) : capacity_(capacity) {
    if (capacity == 0) throw Error("@unit@ needs room", @b@);
    values_.reserve(capacity);
  }

  void push(T value) {
    if (values_.size() == capacity_) values_.erase(values_.begin());
    values_.push_back(std::move(value));
    ++pushed_;
  }

  std::size_t size() const { return values_.size(); }
  std::size_t pushed() const { return pushed_; }
  bool empty() const { return values_.empty(); }

  std::optional<T> last() const {
    if (values_.empty()) return std::nullopt;
    return values_.back();
  }

  std::optional<T> greatest() const {
    auto found = std::max_element(values_.begin(), values_.end());
    if (found == values_.end()) return std::nullopt;
    return *found;
  }

  T sum() const { return std::accumulate(values_.begin(), values_.end(), T{}); }

  std::vector<T> sorted() const {
    std::vector<T> copy = values_;
    std::sort(copy.begin(), copy.end());
    return copy;
  }

  template <class F>
  auto map(F&& f) const -> @Class@<decltype(f(std::declval<T>()))> {
    @Class@<decltype(f(std::declval<T>()))> mapped(capacity_);
    for (const auto& value : values_) mapped.push(f(value));
    return mapped;
  }

 private:
  std::size_t capacity_;
  std::size_t pushed_ = 0;
  std::vector<T> values_;
};

class @Class@Statistics {
 public:
  void record(const std::string& name, std::int64_t value);
  std::int64_t sum_of(const std::string& name) const;
  std::string longest_name() const;
  double average() const;

 private:
  @Class@<std::pair<std::string, std::int64_t>> records_{@c@};
};

extern template class @Class@<std::int64_t>;

@declarations@
}  // namespace atlas::@library@
