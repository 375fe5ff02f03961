// From text to tokens and trees. Trees are compared through their values.
#include <gtest/gtest.h>

#include <vector>

#include "abacus/lexer.hpp"
#include "abacus/parser.hpp"

namespace abacus {
namespace {

std::vector<TokenKind> kinds(std::string_view text) {
  Lexer lexer(text);
  std::vector<TokenKind> kinds;
  do {
    kinds.push_back(lexer.next().kind);
  } while (kinds.back() != TokenKind::End);
  return kinds;
}

// Where parsing stops, or nothing if it does not.
std::string error(std::string_view text, const FunctionTable& functions = FunctionTable()) {
  try {
    parse(text, functions);
    return "";
  } catch (const SyntaxError& error) {
    return std::to_string(error.position()) + ": " + error.what();
  }
}

TEST(LexerTest, KnowsOperators) {
  EXPECT_EQ(kinds("+-*/%^(),"),
            (std::vector{TokenKind::Plus, TokenKind::Minus, TokenKind::Star, TokenKind::Slash, TokenKind::Percent,
                         TokenKind::Caret, TokenKind::LeftParenthesis, TokenKind::RightParenthesis,
                         TokenKind::Comma, TokenKind::End}));
  EXPECT_THROW(kinds("2 # 3"), SyntaxError);
}

TEST(LexerTest, ReadsNumbersAndNames) {
  Lexer lexer(" 2.5e1x_9\t.5\n09 AZ_az");
  EXPECT_DOUBLE_EQ(lexer.next().number, 25);
  const Token name = lexer.next();
  EXPECT_EQ(name.kind, TokenKind::Name);
  EXPECT_EQ(name.text, "x_9");
  EXPECT_EQ(name.position, 6u);
  EXPECT_DOUBLE_EQ(lexer.next().number, 0.5);
  EXPECT_DOUBLE_EQ(lexer.next().number, 9);
  EXPECT_EQ(lexer.next().text, "AZ_az");
  EXPECT_EQ(lexer.next().kind, TokenKind::End);
  EXPECT_EQ(lexer.next().kind, TokenKind::End);
  EXPECT_THROW(kinds("1e999"), SyntaxError);
  EXPECT_THROW(kinds(". 5"), SyntaxError);
}

struct Example {
  const char* text;
  double value;
};

// For messages and listings.
void PrintTo(const Example& example, std::ostream* out) { *out << example.text << " = " << example.value; }

class PrecedenceTest : public testing::TestWithParam<Example> {};

TEST_P(PrecedenceTest, DecidesWhatIsGrouped) {
  EXPECT_DOUBLE_EQ(parse(GetParam().text)->evaluate(Scope()), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(Expressions, PrecedenceTest,
                         testing::Values(Example{"(2 + 3) * 4 - 5 - 6", 9}, Example{"-2 ^ 3 ^ 2 + 2 ^ -1", -511.5},
                                         Example{"1 + 24 / 4 / 2 % 2", 2}));

TEST(ParserErrorTest, PointsAtTheMistake) {
  EXPECT_EQ(error("1 + 2"), "");
  EXPECT_EQ(error("1 + "), "4: expected a number, a name or '('");
  EXPECT_EQ(error("(1 + 2"), "6: expected ')'");
  EXPECT_EQ(error("1 2"), "2: expected an operator before '2'");
  EXPECT_EQ(error(std::string(99, '(') + "1" + std::string(99, ')')), "");
  EXPECT_EQ(error(std::string(100, '-') + "1"), "100: nested too deeply");
}

TEST(ParserErrorTest, ChecksCalls) {
  FunctionTable functions;
  functions.add({"zero", 2, [](const double*, std::size_t) { return 0.0; }, ""});
  EXPECT_EQ(error("zero(1, 2)", functions), "");
  EXPECT_EQ(error("1 + one(1)", functions), "4: unknown function 'one'");
  EXPECT_EQ(error("zero(1)", functions), "0: 'zero' takes 2 arguments, not 1");
  EXPECT_EQ(error("zero(1, 2", functions), "9: expected ',' or ')'");
}

// Wanted, but x(2) would be ambiguous then.
TEST(ParserTest, DISABLED_MultipliesWithoutAnOperator) { EXPECT_EQ(error("2x"), ""); }

}  // namespace
}  // namespace abacus
