#include "abacus/functions.hpp"

#include <stdexcept>

namespace abacus {
namespace {

// Created on first use, because packs of other files may be initialised before this file's variables.
FunctionTable& registry() {
  static FunctionTable table;
  return table;
}

}  // namespace

void FunctionTable::add(const Function& function) {
  if (!functions_.emplace(function.name, function).second) {
    throw std::invalid_argument("function '" + std::string(function.name) + "' exists already");
  }
}

const Function* FunctionTable::find(std::string_view name) const {
  const auto found = functions_.find(name);
  return found != functions_.end() ? &found->second : nullptr;
}

FunctionPack::FunctionPack(std::string_view title, std::initializer_list<Function> functions) : title_(title) {
  for (const Function& function : functions) {
    registry().add(function);
    names_.push_back(function.name);
  }
}

std::string FunctionPack::describe() const {
  std::string line(title_);
  std::string_view separator = ": ";
  for (const std::string_view name : names_) {
    line += separator;
    line += name;
    separator = ", ";
  }
  return line;
}

const FunctionTable& standard_functions() { return registry(); }

// Naming the packs here also makes the linker take their files from the archive.
std::string describe_standard_functions() {
  return basic_functions.describe() + "\n" + trigonometric_functions.describe() + "\n";
}

}  // namespace abacus
