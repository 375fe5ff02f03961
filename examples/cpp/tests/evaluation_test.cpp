#include <gtest/gtest.h>

#include "abacus/functions.hpp"
#include "abacus/node.hpp"

namespace abacus {
namespace {

class EvaluationTest : public testing::Test {
 protected:
  void SetUp() override {
    globals_.set("x", 7);
    globals_.set("y", -2);
  }

  double evaluate(Operator op, const NodePtr& left, const NodePtr& right) const {
    return make_binary(op, left, right)->evaluate(globals_);
  }

  Scope globals_;
  const NodePtr x_ = make_variable("x");
  const NodePtr y_ = make_variable("y");
};

TEST_F(EvaluationTest, Operators) {
  EXPECT_DOUBLE_EQ(evaluate(Operator::Add, x_, y_), 5);
  EXPECT_DOUBLE_EQ(evaluate(Operator::Subtract, x_, y_), 9);
  EXPECT_DOUBLE_EQ(evaluate(Operator::Multiply, x_, y_), -14);
  EXPECT_DOUBLE_EQ(evaluate(Operator::Divide, x_, y_), -3.5);
  EXPECT_DOUBLE_EQ(evaluate(Operator::Power, y_, make_number(3)), -8);
  EXPECT_DOUBLE_EQ(make_negation(x_)->evaluate(globals_), -7);
  EXPECT_THROW(evaluate(Operator::Divide, x_, make_number(0)), EvaluationError);
}

TEST_F(EvaluationTest, RemainderHasTheSignOfTheDivisor) {
  EXPECT_DOUBLE_EQ(evaluate(Operator::Remainder, x_, make_number(2.5)), 2);
  EXPECT_DOUBLE_EQ(evaluate(Operator::Remainder, y_, make_number(360)), 358);
  EXPECT_THROW(evaluate(Operator::Remainder, x_, make_number(0)), EvaluationError);
}

TEST_F(EvaluationTest, InnerScopesHideOuterOnes) {
  Scope locals(&globals_);
  locals.set("x", 1);
  locals.set("x", 2);
  EXPECT_DOUBLE_EQ(x_->evaluate(locals), 2);
  EXPECT_DOUBLE_EQ(y_->evaluate(locals), -2);
  EXPECT_DOUBLE_EQ(x_->evaluate(globals_), 7);
}

TEST(ScopeTest, UnknownNamesAreErrors) {
  Scope scope;
  try {
    scope.get("speed");
    FAIL() << "speed has no value";
  } catch (const EvaluationError& error) {
    EXPECT_STREQ(error.what(), "no value for 'speed'");
  }
}

double weighted(const double* arguments, std::size_t count) {
  return arguments[0] + 10 * arguments[1] + 100 * static_cast<double>(count);
}

TEST(CallTest, PassesItsArguments) {
  const Function function{"weighted", 2, weighted, ""};
  const NodePtr call = make_call(function, {make_number(3), make_number(4)});
  EXPECT_DOUBLE_EQ(call->evaluate(Scope()), 243);
}

}  // namespace
}  // namespace abacus
