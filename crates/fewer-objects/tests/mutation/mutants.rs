//! Mutants of C++ and Java text: one small change each, made on tokens. Whether a mutant compiles is the compiler's
//! word; changes that plainly would not are not made.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::tokens::{Token, TokenKind, tokens};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Arithmetic,
    Boolean,
    Comparison,
    Constant,
    Logic,
    RemovedCall,
    Return,
    Step,
}

/// A source file with one change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// Path below the project. Example: `src/lexer.cpp`.
    pub file: String,
    pub line: usize,
    pub kind: Kind,
    pub before: String,
    pub after: String,
    range: Range<usize>,
}

impl Mutant {
    pub fn apply(&self, source: &str) -> String {
        assert_eq!(source[self.range.clone()], self.before, "{self} was made from another text");
        format!("{}{}{}", &source[..self.range.start], self.after, &source[self.range.end..])
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {:?}: `{}` -> `{}`", self.file, self.line, self.kind, self.before, self.after)
    }
}

/// Every mutant of a file, in the order of its text.
pub fn mutants(file: &str, source: &str) -> Vec<Mutant> {
    let text = TokenText { source, tokens: tokens(source), is_java: file.ends_with(".java") };
    let mut mutants = Vec::new();
    for index in 0..text.tokens.len() {
        for (kind, tokens, after) in text.changes(index) {
            let range = text.tokens[tokens.start].range.start..text.tokens[tokens.end - 1].range.end;
            mutants.push(Mutant {
                file: file.to_string(),
                line: source[..range.start].matches('\n').count() + 1,
                kind,
                before: source[range.clone()].to_string(),
                after,
                range,
            });
        }
    }
    mutants
}

/// At most `count` of one file's mutants: always the same ones, and of as many kinds as there are.
pub fn sample(mutants: Vec<Mutant>, count: usize) -> Vec<Mutant> {
    let mut of_kind: BTreeMap<Kind, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        of_kind.entry(mutant.kind).or_default().push(mutant);
    }
    for mutants in of_kind.values_mut() {
        mutants.sort_by_key(|mutant| (scattered(mutant.range.start), mutant.after.clone()));
    }
    let mut chosen = Vec::new();
    while chosen.len() < count && !of_kind.is_empty() {
        chosen.extend(of_kind.values_mut().filter_map(Vec::pop));
        of_kind.retain(|_, mutants| !mutants.is_empty());
    }
    chosen.truncate(count);
    chosen
}

/// A fixed number for a position, without order.
fn scattered(position: usize) -> u64 {
    (position as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

/// A change of the tokens in a range.
type Change = (Kind, Range<usize>, String);

struct TokenText<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    is_java: bool,
}

/// Words that start a statement which is no call although it may look like one.
const STATEMENT_WORDS: [&str; 9] =
    ["return", "throw", "if", "while", "for", "switch", "sizeof", "static_assert", "delete"];

impl TokenText<'_> {
    /// The changes that start at a token.
    fn changes(&self, index: usize) -> Vec<Change> {
        let one = |kind: Kind, after: &str| vec![(kind, index..index + 1, after.to_string())];
        let text = self.text(index);
        match self.tokens[index].kind {
            TokenKind::Symbol => match symbol_change(text) {
                Some((kind, after)) if kind == Kind::Step || self.is_binary(index) => one(kind, after),
                Some(_) | None => Vec::new(),
            },
            TokenKind::Number if self.is_pure_specifier(index) => Vec::new(),
            TokenKind::Number => one(Kind::Constant, &format!("({text} + 1)")),
            TokenKind::Word => match text {
                "true" => one(Kind::Boolean, "false"),
                "false" => one(Kind::Boolean, "true"),
                "return" => self.returns(index),
                _ => self.removed_call(index).into_iter().collect(),
            },
            TokenKind::Text => Vec::new(),
        }
    }

    fn text(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &self.source[token.range.clone()])
    }

    /// Blanks on both sides tell operators from signs, pointers, references and the brackets of templates.
    fn is_binary(&self, index: usize) -> bool {
        let range = &self.tokens[index].range;
        let is_blank = |text: Option<char>| text.is_some_and(char::is_whitespace);
        is_blank(self.source[..range.start].chars().next_back())
            && is_blank(self.source[range.end..].chars().next())
    }

    /// The 0 of a pure virtual function.
    fn is_pure_specifier(&self, index: usize) -> bool {
        index >= 2
            && self.text(index - 1) == "="
            && matches!(self.text(index - 2), ")" | "const" | "noexcept" | "override")
    }

    /// Nothing instead of the value, and the value negated.
    fn returns(&self, index: usize) -> Vec<Change> {
        let Some(end) = self.statement_end(index + 1) else { return Vec::new() };
        if end == index + 1 || self.text(index + 1) == "{" {
            return Vec::new();
        }
        let value = &self.source[self.tokens[index + 1].range.start..self.tokens[end - 1].range.end];
        // Java has no value that suits every type.
        let nothing: &[&str] = if self.is_java { &["null", "0"] } else { &["{}"] };
        let negated = format!("!({value})");
        let values = nothing.iter().copied().chain([negated.as_str()]);
        values.map(|value| (Kind::Return, index..end + 1, format!("return {value};"))).collect()
    }

    /// The semicolon that ends what starts at a token, outside of all brackets.
    fn statement_end(&self, start: usize) -> Option<usize> {
        let mut depth = 0;
        for index in start..self.tokens.len() {
            match self.text(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => return None,
                ")" | "]" | "}" => depth -= 1,
                ";" if depth == 0 => return Some(index),
                _ => {}
            }
        }
        None
    }

    /// A statement that is nothing but a call. Two words in a row are a declaration.
    fn removed_call(&self, index: usize) -> Option<Change> {
        let starts_statement = index > 0 && matches!(self.text(index - 1), ";" | "{" | "}");
        if !starts_statement || STATEMENT_WORDS.contains(&self.text(index)) {
            return None;
        }
        let end = self.statement_end(index)?;
        let mut depth = 0;
        for at in index..end {
            let is_word = |index: usize| self.tokens[index].kind == TokenKind::Word;
            if is_word(at) && is_word(at + 1) {
                return None;
            }
            match self.text(at) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                "::" | "." | "->" => {}
                _ if depth > 0 || is_word(at) => {}
                _ => return None,
            }
        }
        (self.text(end - 1) == ")").then(|| (Kind::RemovedCall, index..end + 1, ";".to_string()))
    }
}

fn symbol_change(symbol: &str) -> Option<(Kind, &'static str)> {
    Some(match symbol {
        "+" => (Kind::Arithmetic, "-"),
        "-" => (Kind::Arithmetic, "+"),
        "*" => (Kind::Arithmetic, "/"),
        "/" => (Kind::Arithmetic, "*"),
        "%" => (Kind::Arithmetic, "*"),
        "+=" => (Kind::Arithmetic, "-="),
        "-=" => (Kind::Arithmetic, "+="),
        "*=" => (Kind::Arithmetic, "/="),
        "/=" => (Kind::Arithmetic, "*="),
        "%=" => (Kind::Arithmetic, "*="),
        "<" => (Kind::Comparison, "<="),
        "<=" => (Kind::Comparison, "<"),
        ">" => (Kind::Comparison, ">="),
        ">=" => (Kind::Comparison, ">"),
        "==" => (Kind::Comparison, "!="),
        "!=" => (Kind::Comparison, "=="),
        "&&" => (Kind::Logic, "||"),
        "||" => (Kind::Logic, "&&"),
        "++" => (Kind::Step, "--"),
        "--" => (Kind::Step, "++"),
        _ => return None,
    })
}

#[test]
fn mutants_change_operators_constants_returns_calls_and_nothing_else() {
    let source = "\
struct A { virtual void f(int* p) const = 0; A(int a, int b); };
bool g(std::vector<int>& v, bool b) {
  v.push_back(1); // a + b
  std::sort(v.begin(), v.end());
  std::string s(v);
  ++i;
  return -x + 2 < y && b;
}
";
    let made: Vec<String> = mutants("a.cpp", source)
        .iter()
        .map(|mutant| format!("{} {} -> {}", mutant.line, mutant.before, mutant.after))
        .collect();
    let expected = [
        "3 v.push_back(1); -> ;",
        "3 1 -> (1 + 1)",
        "4 std::sort(v.begin(), v.end()); -> ;",
        "6 ++ -> --",
        "7 return -x + 2 < y && b; -> return {};",
        "7 return -x + 2 < y && b; -> return !(-x + 2 < y && b);",
        "7 + -> -",
        "7 2 -> (2 + 1)",
        "7 < -> <=",
        "7 && -> ||",
    ];
    assert_eq!(made, expected);
}
