#include "abacus/node.hpp"

#include <cmath>

#include "abacus/functions.hpp"

namespace abacus {
namespace {

double quotient(double dividend, double divisor) {
  if (divisor == 0) {
    throw EvaluationError("division by zero");
  }
  return dividend / divisor;
}

// Takes the sign of the divisor, so that x % 360 is an angle for every x.
double remainder_of(double dividend, double divisor) {
  return dividend - divisor * std::floor(quotient(dividend, divisor));
}

}  // namespace

void Scope::set(std::string_view name, double value) { values_.insert_or_assign(std::string(name), value); }

double Scope::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) {
    return found->second;
  }
  if (parent_ != nullptr) {
    return parent_->get(name);
  }
  throw EvaluationError("no value for '" + std::string(name) + "'");
}

double Number::evaluate(const Scope&) const { return value_; }
void Number::accept(Visitor& visitor) const { visitor.visit(*this); }

double Variable::evaluate(const Scope& scope) const { return scope.get(name_); }
void Variable::accept(Visitor& visitor) const { visitor.visit(*this); }

double Negation::evaluate(const Scope& scope) const { return -operand_->evaluate(scope); }
void Negation::accept(Visitor& visitor) const { visitor.visit(*this); }

double Binary::evaluate(const Scope& scope) const {
  const double left = left_->evaluate(scope);
  const double right = right_->evaluate(scope);
  switch (op_) {
    case Operator::Add: return left + right;
    case Operator::Subtract: return left - right;
    case Operator::Multiply: return left * right;
    case Operator::Divide: return quotient(left, right);
    case Operator::Remainder: return remainder_of(left, right);
    case Operator::Power: return std::pow(left, right);
  }
  throw EvaluationError("unknown operator");
}
void Binary::accept(Visitor& visitor) const { visitor.visit(*this); }

double Call::evaluate(const Scope& scope) const {
  std::vector<double> values;
  for (const NodePtr& argument : arguments_) {
    values.push_back(argument->evaluate(scope));
  }
  return function_->body(values.data(), values.size());
}
void Call::accept(Visitor& visitor) const { visitor.visit(*this); }

NodePtr make_number(double value) { return std::make_shared<Number>(value); }

NodePtr make_variable(std::string_view name) { return std::make_shared<Variable>(name); }

NodePtr make_negation(NodePtr operand) { return std::make_shared<Negation>(std::move(operand)); }

NodePtr make_binary(Operator op, NodePtr left, NodePtr right) {
  return std::make_shared<Binary>(op, std::move(left), std::move(right));
}

NodePtr make_call(const Function& function, std::vector<NodePtr> arguments) {
  return std::make_shared<Call>(function, std::move(arguments));
}

}  // namespace abacus
