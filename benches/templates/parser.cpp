#include "@library@/@unit@.h"
@includes@

#include <cctype>
#include <utility>

namespace atlas::@library@ {
namespace {

constexpr std::int64_t kRevision = 1;
constexpr char kPlus = '@plus@';
constexpr char kTimes = '@times@';

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

class @Class@::Cursor {
 public:
  explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  bool at_end() const { return next_ == tokens_.size(); }
  std::size_t position() const { return next_; }

  bool take(char sign) {
    if (at_end()) return false;
    const Sign* found = std::get_if<Sign>(&tokens_[next_]);
    if (found == nullptr || found->text != sign) return false;
    ++next_;
    return true;
  }

  const Token& take() {
    if (at_end()) throw @Class@Error("the expression ends early", next_);
    return tokens_[next_++];
  }

 private:
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

@Class@& @Class@::define(const std::string& name, std::int64_t value) {
  names_[name] = value;
  return *this;
}

std::vector<@Class@::Token> @Class@::tokens(std::string_view text) const {
  std::vector<Token> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (is_digit(text[at])) {
      std::int64_t number = 0;
      for (; at < text.size() && is_digit(text[at]); ++at) number = number * 10 + (text[at] - '0');
      found.emplace_back(number);
    } else if (is_letter(text[at])) {
      while (at < text.size() && is_letter(text[at])) ++at;
      found.emplace_back(Name{std::string(text.substr(start, at - start))});
    } else {
      if (text[at] != ' ') found.emplace_back(Sign{text[at]});
      ++at;
    }
  }
  return found;
}

std::int64_t @Class@::evaluate(std::string_view text) const {
  Cursor cursor(tokens(text));
  const std::int64_t result = sum(cursor);
  if (!cursor.at_end()) throw @Class@Error("something is left over", cursor.position());
  return result;
}

std::int64_t @Class@::sum(Cursor& cursor) const {
  std::int64_t result = product(cursor);
  while (cursor.take(kPlus)) result += product(cursor);
  return result;
}

std::int64_t @Class@::product(Cursor& cursor) const {
  std::int64_t result = value(cursor);
  while (cursor.take(kTimes)) result *= value(cursor);
  return result;
}

std::int64_t @Class@::value(Cursor& cursor) const {
  const auto visitor = Overloaded{
      [](std::int64_t number) { return number; },
      [&](const Name& name) {
        auto found = names_.find(name.text);
        if (found != names_.end()) return found->second;
        const std::int64_t value = static_cast<std::int64_t>(name.text.size());
        return @call@;
      },
      [&](const Sign& sign) -> std::int64_t {
        throw @Class@Error(std::string("unexpected ") + sign.text, cursor.position());
      },
  };
  return std::visit(visitor, cursor.take());
}

@definitions@
}  // namespace atlas::@library@
