// From trees to other trees and back to text.
#include <gtest/gtest.h>

#include "abacus/derivative.hpp"
#include "abacus/parser.hpp"
#include "abacus/printer.hpp"
#include "abacus/simplifier.hpp"

namespace abacus {
namespace {

// So that these tests do not depend on the standard functions.
double twice(const double* arguments, std::size_t) { return 2 * arguments[0]; }
double cube(const double* arguments, std::size_t) { return arguments[0] * arguments[0] * arguments[0]; }
double larger(const double* x, std::size_t) { return x[0] < x[1] ? x[1] : x[0]; }

class RewritingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    functions_ = new FunctionTable;
    functions_->add({"twice", 1, twice, "2"});
    functions_->add({"cube", 1, cube, "3 * x ^ 2"});
    functions_->add({"larger", 2, larger, ""});
  }

  static void TearDownTestSuite() {
    delete functions_;
    functions_ = nullptr;
  }

  static NodePtr read(std::string_view text) { return parse(text, *functions_); }

  static FunctionTable* functions_;
};

FunctionTable* RewritingTest::functions_ = nullptr;

class PrinterTest : public RewritingTest {
 protected:
  static std::string printed(std::string_view text) { return to_string(*read(text)); }
};

TEST_F(PrinterTest, DropsNeedlessParentheses) {
  EXPECT_EQ(printed("((1)+(2*x))"), "1 + 2 * x");
  EXPECT_EQ(printed("(a-b)-c"), "a - b - c");
  EXPECT_EQ(printed("a^(b^c)"), "a^b^c");
  EXPECT_EQ(printed("-(x^2)%(-y)"), "-x^2 % -y");
  EXPECT_EQ(printed("larger((1+2),twice(x))^2"), "larger(1 + 2, twice(x))^2");
}

TEST_F(PrinterTest, KeepsNeededParentheses) {
  EXPECT_EQ(printed("(1+2)*x"), "(1 + 2) * x");
  EXPECT_EQ(printed("a-(b-c)"), "a - (b - c)");
  EXPECT_EQ(printed("a/(b*c)"), "a / (b * c)");
  EXPECT_EQ(printed("(a^b)^c"), "(a^b)^c");
  EXPECT_EQ(printed("(-x)^2"), "(-x)^2");
  EXPECT_EQ(to_string(*make_binary(Operator::Power, make_number(-2), make_number(2))), "(-2)^2");
}

class SimplifierTest : public RewritingTest {
 protected:
  static std::string simplified(std::string_view text) { return to_string(*simplify(read(text))); }
};

TEST_F(SimplifierTest, FoldsLiterals) {
  EXPECT_EQ(simplified("2 * 3 + x"), "6 + x");
  EXPECT_EQ(simplified("-(3 - 5)"), "2");
  EXPECT_EQ(simplified("6 / 3 + 7 % 4"), "5");
  EXPECT_EQ(simplified("larger(twice(4), 1)"), "8");
  EXPECT_EQ(simplified("larger(twice(4), x)"), "larger(8, x)");
}

TEST_F(SimplifierTest, DropsWhatIsNeutral) {
  EXPECT_EQ(simplified("0 + x + 0"), "x");
  EXPECT_EQ(simplified("x - 0"), "x");
  EXPECT_EQ(simplified("1 * x * 1 / 1"), "x");
  EXPECT_EQ(simplified("x ^ (3 - 2)"), "x");
  EXPECT_EQ(simplified("1 + 2 * x - 3 / x"), "1 + 2 * x - 3 / x");
}

TEST_F(SimplifierTest, KnowsZeroAndNegation) {
  EXPECT_EQ(simplified("0 * x + y * 0"), "0");
  EXPECT_EQ(simplified("x ^ 0"), "1");
  EXPECT_EQ(simplified("0 - x"), "-x");
  EXPECT_EQ(simplified("--x"), "x");
  EXPECT_EQ(simplified("-x"), "-x");
  EXPECT_EQ(simplified("(1 + 2) / 0"), "3 / 0");
  EXPECT_EQ(simplified("3 % (1 - 1)"), "3 % 0");
}

class DerivativeTest : public RewritingTest {
 protected:
  static std::string derived(std::string_view text) {
    return to_string(*simplify(differentiate(read(text), "t", *functions_)));
  }
};

TEST_F(DerivativeTest, OfOperators) {
  EXPECT_EQ(derived("3 * t + a - 5"), "3");
  EXPECT_EQ(derived("t ^ 3"), "3 * t^2");
  EXPECT_EQ(derived("-(t * a)"), "-a");
  EXPECT_EQ(derived("a - t ^ 2"), "-(2 * t)");
  EXPECT_EQ(derived("a / t"), "-a / t^2");
}

TEST_F(DerivativeTest, OfCallsFollowsTheChainRule) {
  EXPECT_EQ(derived("twice(t)"), "2");
  EXPECT_EQ(derived("cube(5 * t)"), "3 * (5 * t)^2 * 5");
}

TEST_F(DerivativeTest, IsAnErrorWithoutARule) {
  EXPECT_THROW(derived("t % 2"), DerivativeError);
  EXPECT_THROW(derived("2 ^ t"), DerivativeError);
  EXPECT_THROW(derived("larger(t, 1)"), DerivativeError);
}

TEST_F(DerivativeTest, SubstitutionReplacesEveryOccurrence) {
  const NodePtr node = substitute(read("x * larger(-x, y)"), "x", read("a + 1"));
  EXPECT_EQ(to_string(*node), "(a + 1) * larger(-(a + 1), y)");
}

}  // namespace
}  // namespace abacus
