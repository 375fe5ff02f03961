#pragma once
#include "@library@/registry.h"
#include <string>
#include <string_view>
#include <variant>
#include <vector>
@includes@
namespace atlas::@library@ {

// Sums and products of numbers and names, as in `2 @plus@ 3 @times@ size`.
class @Class@ {
 public:
  struct Name {
    std::string text;
  };
  struct Sign {
    char text;
  };
  using Token = std::variant<std::int64_t, Name, Sign>;

  @Class@& define(const std::string& name, std::int64_t value);
  std::vector<Token> tokens(std::string_view text) const;
  std::int64_t evaluate(std::string_view text) const;

 private:
  class Cursor;
  std::int64_t sum(Cursor& cursor) const;
  std::int64_t product(Cursor& cursor) const;
  std::int64_t value(Cursor& cursor) const;

  std::map<std::string, std::int64_t> names_;
};

class @Class@Error : public Error {
 public:
  @Class@Error(const std::string& what, std::size_t position)
      : Error(what + " at " + std::to_string(position), @a@), position_(position) {}
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

inline std::int64_t @unit@_evaluate(std::string_view text) { return @Class@().evaluate(text); }

@declarations@
}  // namespace atlas::@library@
