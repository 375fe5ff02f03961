// The registry and the standard functions in it.
#include "abacus/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "abacus/derivative.hpp"
#include "abacus/parser.hpp"

namespace abacus {
namespace {

double calculate(std::string_view text) { return parse(text, standard_functions())->evaluate(Scope()); }

TEST(FunctionTableTest, FindsByName) {
  FunctionTable table;
  EXPECT_EQ(table.find("one"), nullptr);
  table.add({"one", 1, [](const double*, std::size_t) { return 1.0; }, ""});
  ASSERT_NE(table.find("one"), nullptr);
  EXPECT_EQ(table.find("one")->arity, 1u);
  EXPECT_THROW(table.add({"one", 2, nullptr, ""}), std::invalid_argument);
  EXPECT_EQ(table.size(), 1u);
}

TEST(StandardFunctionsTest, AreRegisteredBeforeMain) {
  EXPECT_NE(standard_functions().find("sqrt"), nullptr);
  EXPECT_NE(standard_functions().find("sin"), nullptr);
  EXPECT_EQ(standard_functions().find("sinus"), nullptr);
  const std::string text = describe_standard_functions();
  EXPECT_EQ(text.rfind("basic: abs, sqrt, exp", 0), 0u);
  EXPECT_NE(text.find("sum\ntrigonometric: sin, cos"), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
}

TEST(BasicFunctionsTest, RootsAndLogarithms) {
  EXPECT_DOUBLE_EQ(calculate("sqrt(16) + abs(-3)"), 7);
  EXPECT_DOUBLE_EQ(calculate("ln(exp(2.5))"), 2.5);
  EXPECT_DOUBLE_EQ(calculate("exp(1)"), std::exp(1.0));
  EXPECT_DOUBLE_EQ(calculate("log(1000, 10)"), 3);
}

TEST(BasicFunctionsTest, OfSeveralNumbers) {
  EXPECT_DOUBLE_EQ(calculate("min(3, -1, 2)"), -1);
  EXPECT_DOUBLE_EQ(calculate("max(3, -1, 5)"), 5);
  EXPECT_DOUBLE_EQ(calculate("sum(1, 2, 4)"), 7);
  EXPECT_DOUBLE_EQ(calculate("clamp(7, 1, 5)"), 5);
  EXPECT_DOUBLE_EQ(calculate("clamp(-7, 1, 5)"), 1);
  EXPECT_DOUBLE_EQ(calculate("clamp(3, 1, 5)"), 3);
}

TEST(TrigonometricFunctionsTest, OfAngles) {
  EXPECT_NEAR(calculate("sin(rad(30))"), 0.5, 1e-12);
  EXPECT_NEAR(calculate("cos(rad(60))"), 0.5, 1e-12);
  EXPECT_NEAR(calculate("tan(rad(45))"), 1, 1e-12);
  EXPECT_NEAR(calculate("deg(atan(1))"), 45, 1e-12);
  EXPECT_NEAR(calculate("deg(atan2(1, -1))"), 135, 1e-12);
  EXPECT_DOUBLE_EQ(calculate("hypot(3, 4)"), 5);
}

TEST(StandardFunctionsTest, DerivativesAreSlopes) {
  for (const std::string_view name : {"sqrt", "exp", "ln", "sin", "cos", "tan", "atan"}) {
    const NodePtr call = make_call(*standard_functions().find(name), {make_variable("t")});
    Scope left, middle, right;
    left.set("t", 0.7 - 1e-5);
    middle.set("t", 0.7);
    right.set("t", 0.7 + 1e-5);
    const double slope = (call->evaluate(right) - call->evaluate(left)) / 2e-5;
    EXPECT_NEAR(differentiate(call, "t", standard_functions())->evaluate(middle), slope, 1e-8) << name;
  }
}

}  // namespace
}  // namespace abacus
