#include "@library@/@unit@.h"
@includes@

#include <algorithm>
#include <numeric>
#include <utility>

namespace atlas::@library@ {
namespace {

constexpr std::int64_t kRevision = 1;
const char* const kName = "@library@.@unit@";
const Registration<@Class@> registration{kName};
int created = 0;

std::int64_t fold(std::int64_t value, std::int64_t factor) {
  static const std::array<std::int64_t, 4> weights{@a@, @b@, @c@, @d@};
  std::int64_t folded = 0;
  for (std::size_t index = 0; index < weights.size(); ++index) {
    folded += weights[index] * ((value >> index) % factor);
  }
  return folded;
}

}  // namespace

@Class@::@Class@(std::int64_t factor) : factor_(factor) {
  if (factor <= 0) throw Error("@unit@ needs a positive factor", @c@);
  ++created;
}

std::string @Class@::name() const { return kName; }

std::int64_t @Class@::apply(std::int64_t value) const {
  const std::int64_t bounded = clamp_to(value, 0, 100000);
  return fold(bounded, factor_) + @call@ + static_cast<std::int64_t>(notes_.size());
}

std::string @Class@::describe() const {
  std::vector<std::string> parts = notes_;
  std::sort(parts.begin(), parts.end(), [](const std::string& left, const std::string& right) {
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  });
  parts.insert(parts.begin(), Stage::describe());
  return joined(parts, ", ");
}

@Class@& @Class@::note(std::string text) {
  if (text.empty()) throw Error("an empty note in @unit@", @d@);
  notes_.push_back(std::move(text));
  return *this;
}

std::map<std::string, std::size_t> @Class@::note_lengths() const {
  std::map<std::string, std::size_t> lengths;
  std::for_each(notes_.begin(), notes_.end(), [&](const std::string& text) { lengths[text] = text.size(); });
  return lengths;
}

@definitions@
}  // namespace atlas::@library@
