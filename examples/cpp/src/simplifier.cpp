#include "abacus/simplifier.hpp"

namespace abacus {
namespace {

bool is_literal(const NodePtr& node, double value) {
  const double* literal = node->literal();
  return literal != nullptr && *literal == value;
}

// A division by zero is left for the evaluation to report.
bool is_foldable(Operator op, const NodePtr& left, const NodePtr& right) {
  const bool divides = op == Operator::Divide || op == Operator::Remainder;
  return left->literal() != nullptr && right->literal() != nullptr && !(divides && is_literal(right, 0));
}

NodePtr simplify_negation(const NodePtr& operand);

// The operands are simple already.
NodePtr simplify_binary(Operator op, const NodePtr& left, const NodePtr& right) {
  if (is_foldable(op, left, right)) {
    return make_number(Binary(op, left, right).evaluate(Scope()));
  }
  switch (op) {
    case Operator::Add:
      if (is_literal(left, 0)) return right;
      if (is_literal(right, 0)) return left;
      break;
    case Operator::Subtract:
      if (is_literal(left, 0)) return simplify_negation(right);
      if (is_literal(right, 0)) return left;
      break;
    case Operator::Multiply:
      if (is_literal(left, 0) || is_literal(right, 0)) return make_number(0);
      if (is_literal(left, 1)) return right;
      if (is_literal(right, 1)) return left;
      break;
    case Operator::Divide:
      if (is_literal(right, 1)) return left;
      break;
    case Operator::Remainder:
      break;
    case Operator::Power:
      if (is_literal(right, 0)) return make_number(1);
      if (is_literal(right, 1)) return left;
      break;
  }
  return make_binary(op, left, right);
}

class Simplifier : public Visitor {
 public:
  NodePtr simplify(const NodePtr& node) {
    result_ = node;
    node->accept(*this);
    return result_;
  }

  void visit(const Number&) override {}
  void visit(const Variable&) override {}

  void visit(const Negation& negation) override { result_ = simplify_negation(simplify(negation.operand())); }

  void visit(const Binary& binary) override {
    const NodePtr left = simplify(binary.left());
    result_ = simplify_binary(binary.op(), left, simplify(binary.right()));
  }

  void visit(const Call& call) override {
    std::vector<NodePtr> arguments;
    bool foldable = true;
    for (const NodePtr& argument : call.arguments()) {
      arguments.push_back(simplify(argument));
      foldable = foldable && arguments.back()->literal() != nullptr;
    }
    result_ = make_call(call.function(), std::move(arguments));
    if (foldable) {
      result_ = make_number(result_->evaluate(Scope()));
    }
  }

 private:
  NodePtr result_;
};

// Finds the operand of a negation.
class NegationFinder : public Visitor {
 public:
  void visit(const Number&) override {}
  void visit(const Variable&) override {}
  void visit(const Negation& negation) override { operand = negation.operand(); }
  void visit(const Binary&) override {}
  void visit(const Call&) override {}

  NodePtr operand;
};

NodePtr simplify_negation(const NodePtr& operand) {
  if (const double* literal = operand->literal()) {
    return make_number(-*literal);
  }
  NegationFinder inner;
  operand->accept(inner);
  return inner.operand != nullptr ? inner.operand : make_negation(operand);
}

}  // namespace

NodePtr simplify(const NodePtr& node) { return Simplifier().simplify(node); }

}  // namespace abacus
