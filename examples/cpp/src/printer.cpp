#include "abacus/printer.hpp"

#include "abacus/functions.hpp"
#include "abacus/style.hpp"

namespace abacus {
namespace {

// How tightly an expression holds together.
enum Binding { sum_binding = 1, product_binding, unary_binding, power_binding, primary_binding };

Binding binding_of(Operator op) {
  switch (op) {
    case Operator::Add:
    case Operator::Subtract: return sum_binding;
    case Operator::Multiply:
    case Operator::Divide:
    case Operator::Remainder: return product_binding;
    case Operator::Power: return power_binding;
  }
  return primary_binding;
}

const char* symbol_of(Operator op) {
  switch (op) {
    case Operator::Add: return " + ";
    case Operator::Subtract: return " - ";
    case Operator::Multiply: return " * ";
    case Operator::Divide: return " / ";
    case Operator::Remainder: return " % ";
    case Operator::Power: return "^";
  }
  return "?";
}

class Printer : public Visitor {
 public:
  std::string take() { return std::move(text_); }

  // In parentheses if the node holds together less tightly than its surroundings need.
  void print(const Node& node, Binding needed) {
    Printer inner;
    node.accept(inner);
    text_ += inner.binding_ < needed ? "(" + inner.text_ + ")" : inner.text_;
  }

  void visit(const Number& number) override {
    const double value = *number.literal();
    text_ += PlainStyle().format(value);
    binding_ = value < 0 ? unary_binding : primary_binding;
  }

  void visit(const Variable& variable) override {
    text_ += variable.name();
    binding_ = primary_binding;
  }

  void visit(const Negation& negation) override {
    text_ += '-';
    print(*negation.operand(), unary_binding);
    binding_ = unary_binding;
  }

  void visit(const Binary& binary) override {
    binding_ = binding_of(binary.op());
    const bool groups_right = binary.op() == Operator::Power;
    const auto tighter = static_cast<Binding>(binding_ + 1);
    print(*binary.left(), groups_right ? tighter : binding_);
    text_ += symbol_of(binary.op());
    print(*binary.right(), groups_right ? unary_binding : tighter);
  }

  void visit(const Call& call) override {
    text_ += call.function().name;
    const char* separator = "(";
    for (const NodePtr& argument : call.arguments()) {
      text_ += separator;
      print(*argument, sum_binding);
      separator = ", ";
    }
    text_ += ')';
    binding_ = primary_binding;
  }

 private:
  std::string text_;
  Binding binding_ = primary_binding;
};

}  // namespace

std::string to_string(const Node& node) {
  Printer printer;
  printer.print(node, sum_binding);
  return printer.take();
}

}  // namespace abacus
