#include "abacus/derivative.hpp"

#include "abacus/parser.hpp"

namespace abacus {
namespace {

NodePtr sum(const NodePtr& left, const NodePtr& right) { return make_binary(Operator::Add, left, right); }
NodePtr difference(const NodePtr& left, const NodePtr& right) { return make_binary(Operator::Subtract, left, right); }
NodePtr product(const NodePtr& left, const NodePtr& right) { return make_binary(Operator::Multiply, left, right); }
NodePtr quotient(const NodePtr& left, const NodePtr& right) { return make_binary(Operator::Divide, left, right); }
NodePtr power(const NodePtr& base, double exponent) {
  return make_binary(Operator::Power, base, make_number(exponent));
}

class Substitution : public Visitor {
 public:
  Substitution(std::string_view variable, const NodePtr& replacement)
      : variable_(variable), replacement_(replacement) {}

  NodePtr apply(const NodePtr& node) {
    result_ = node;
    node->accept(*this);
    return result_;
  }

  void visit(const Number&) override {}

  void visit(const Variable& variable) override {
    if (variable.name() == variable_) {
      result_ = replacement_;
    }
  }

  void visit(const Negation& negation) override { result_ = make_negation(apply(negation.operand())); }

  void visit(const Binary& binary) override {
    const NodePtr left = apply(binary.left());
    result_ = make_binary(binary.op(), left, apply(binary.right()));
  }

  void visit(const Call& call) override {
    std::vector<NodePtr> arguments;
    for (const NodePtr& argument : call.arguments()) {
      arguments.push_back(apply(argument));
    }
    result_ = make_call(call.function(), std::move(arguments));
  }

 private:
  std::string_view variable_;
  NodePtr replacement_;
  NodePtr result_;
};

class Differentiation : public Visitor {
 public:
  Differentiation(std::string_view variable, const FunctionTable& functions)
      : variable_(variable), functions_(functions) {}

  NodePtr derive(const NodePtr& node) {
    node->accept(*this);
    return result_;
  }

  void visit(const Number&) override { result_ = make_number(0); }

  void visit(const Variable& variable) override { result_ = make_number(variable.name() == variable_ ? 1 : 0); }

  void visit(const Negation& negation) override { result_ = make_negation(derive(negation.operand())); }

  void visit(const Binary& binary) override {
    const NodePtr& u = binary.left();
    const NodePtr& v = binary.right();
    switch (binary.op()) {
      case Operator::Add: result_ = sum(derive(u), derive(v)); return;
      case Operator::Subtract: result_ = difference(derive(u), derive(v)); return;
      case Operator::Multiply: result_ = sum(product(derive(u), v), product(u, derive(v))); return;
      case Operator::Divide:
        result_ = quotient(difference(product(derive(u), v), product(u, derive(v))), power(v, 2));
        return;
      case Operator::Remainder: throw DerivativeError("'%' has no derivative");
      case Operator::Power: result_ = derive_power(u, v); return;
    }
  }

  void visit(const Call& call) override {
    const Function& function = call.function();
    if (function.derivative.empty()) {
      throw DerivativeError("no derivative of '" + std::string(function.name) + "' is known");
    }
    const NodePtr& inner = call.arguments().front();
    const NodePtr outer = substitute(parse(function.derivative, functions_), "x", inner);
    result_ = product(outer, derive(inner));
  }

 private:
  NodePtr derive_power(const NodePtr& base, const NodePtr& exponent) {
    const double* literal = exponent->literal();
    if (literal == nullptr) {
      throw DerivativeError("only powers with a literal exponent can be differentiated");
    }
    return product(product(exponent, power(base, *literal - 1)), derive(base));
  }

  std::string_view variable_;
  const FunctionTable& functions_;
  NodePtr result_;
};

}  // namespace

NodePtr differentiate(const NodePtr& node, std::string_view variable, const FunctionTable& functions) {
  return Differentiation(variable, functions).derive(node);
}

NodePtr substitute(const NodePtr& node, std::string_view variable, const NodePtr& replacement) {
  return Substitution(variable, replacement).apply(node);
}

}  // namespace abacus
