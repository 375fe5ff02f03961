// The tree of an expression. Nodes are immutable and shared: rewriting makes new nodes and reuses what stays.
// What nodes do not know themselves (how to be printed, simplified, differentiated) is a Visitor.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace abacus {

struct Function;
class Visitor;

class EvaluationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The values of variables. A scope with a parent falls back to it.
class Scope {
 public:
  explicit Scope(const Scope* parent = nullptr) : parent_(parent) {}

  void set(std::string_view name, double value);
  // Throws EvaluationError for a name without a value.
  double get(std::string_view name) const;

 private:
  const Scope* parent_;
  std::map<std::string, double, std::less<>> values_;
};

class Node {
 public:
  virtual ~Node() = default;

  virtual double evaluate(const Scope& scope) const = 0;
  virtual void accept(Visitor& visitor) const = 0;
  // The value of a literal; nothing else counts as one.
  virtual const double* literal() const { return nullptr; }
};

using NodePtr = std::shared_ptr<const Node>;

class Number : public Node {
 public:
  explicit Number(double value) : value_(value) {}

  double evaluate(const Scope& scope) const override;
  void accept(Visitor& visitor) const override;
  const double* literal() const override { return &value_; }

 private:
  double value_;
};

class Variable : public Node {
 public:
  explicit Variable(std::string_view name) : name_(name) {}

  const std::string& name() const { return name_; }
  double evaluate(const Scope& scope) const override;
  void accept(Visitor& visitor) const override;

 private:
  std::string name_;
};

class Negation : public Node {
 public:
  explicit Negation(NodePtr operand) : operand_(std::move(operand)) {}

  const NodePtr& operand() const { return operand_; }
  double evaluate(const Scope& scope) const override;
  void accept(Visitor& visitor) const override;

 private:
  NodePtr operand_;
};

enum class Operator { Add, Subtract, Multiply, Divide, Remainder, Power };

class Binary : public Node {
 public:
  Binary(Operator op, NodePtr left, NodePtr right) : op_(op), left_(std::move(left)), right_(std::move(right)) {}

  Operator op() const { return op_; }
  const NodePtr& left() const { return left_; }
  const NodePtr& right() const { return right_; }
  double evaluate(const Scope& scope) const override;
  void accept(Visitor& visitor) const override;

 private:
  Operator op_;
  NodePtr left_;
  NodePtr right_;
};

class Call : public Node {
 public:
  Call(const Function& function, std::vector<NodePtr> arguments)
      : function_(&function), arguments_(std::move(arguments)) {}

  const Function& function() const { return *function_; }
  const std::vector<NodePtr>& arguments() const { return arguments_; }
  double evaluate(const Scope& scope) const override;
  void accept(Visitor& visitor) const override;

 private:
  const Function* function_;
  std::vector<NodePtr> arguments_;
};

class Visitor {
 public:
  virtual void visit(const Number& number) = 0;
  virtual void visit(const Variable& variable) = 0;
  virtual void visit(const Negation& negation) = 0;
  virtual void visit(const Binary& binary) = 0;
  virtual void visit(const Call& call) = 0;

 protected:
  ~Visitor() = default;
};

NodePtr make_number(double value);
NodePtr make_variable(std::string_view name);
NodePtr make_negation(NodePtr operand);
NodePtr make_binary(Operator op, NodePtr left, NodePtr right);
NodePtr make_call(const Function& function, std::vector<NodePtr> arguments);

}  // namespace abacus
