// Functions that expressions may call, and the standard ones, which register themselves before main starts.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace abacus {

struct Function {
  static constexpr std::size_t any_number = 0;  // of arguments, but at least one

  std::string_view name;
  std::size_t arity;
  double (*body)(const double* arguments, std::size_t count);
  // Of a function with one argument x, as an expression; empty if it has none.
  std::string_view derivative;
};

class FunctionTable {
 public:
  // Throws std::invalid_argument if the name is taken.
  void add(const Function& function);
  // nullptr if there is none. The pointer stays valid as long as the table.
  const Function* find(std::string_view name) const;
  std::size_t size() const { return functions_.size(); }

 private:
  std::map<std::string_view, Function> functions_;
};

// A group of functions; creating one adds them to the standard functions.
class FunctionPack {
 public:
  FunctionPack(std::string_view title, std::initializer_list<Function> functions);

  // "title: name, name, ..."
  std::string describe() const;

 private:
  std::string_view title_;
  std::vector<std::string_view> names_;
};

extern const FunctionPack basic_functions;
extern const FunctionPack trigonometric_functions;

const FunctionTable& standard_functions();
// One line per pack.
std::string describe_standard_functions();

}  // namespace abacus
