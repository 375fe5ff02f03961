//! The tokens of C++ text, as far as mutants need them: comments and preprocessor lines are left out, texts and
//! characters are opaque. No preprocessing and no grammar.

use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    Word,
    Number,
    Symbol,
    /// A string or character literal.
    Text,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub range: Range<usize>,
}

/// Symbols of more than one character, longest first.
const LONG_SYMBOLS: &[&str] = &[
    "<=>", "<<=", ">>=", "->*", "...", "++", "--", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=", "-=", "*=", "/=", "%=", "::", "&=",
];

pub fn tokens(source: &str) -> Vec<Token> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut at_line_start = true;
    while at < bytes.len() {
        let rest = &source[at..];
        if bytes[at].is_ascii_whitespace() {
            at_line_start |= bytes[at] == b'\n';
            at += 1;
        } else if let Some(end) = end_of_left_out(rest, at_line_start) {
            at += end;
        } else {
            let (kind, length) = next_token(rest);
            tokens.push(Token { kind, range: at..at + length });
            at_line_start = false;
            at += length;
        }
    }
    tokens
}

/// The length of the comment or preprocessor line that the text starts with, if it does.
fn end_of_left_out(rest: &str, at_line_start: bool) -> Option<usize> {
    if let Some(comment) = rest.strip_prefix("/*") {
        return Some(comment.find("*/").map_or(rest.len(), |end| end + 4));
    }
    let is_line = rest.starts_with("//") || (at_line_start && rest.starts_with('#'));
    if !is_line {
        return None;
    }
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            // The line's end stays: what follows starts a line.
            return Some(length - usize::from(line.ends_with('\n')));
        }
    }
    Some(length)
}

fn next_token(rest: &str) -> (TokenKind, usize) {
    let bytes = rest.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    if bytes[0] == b'"' || bytes[0] == b'\'' {
        (TokenKind::Text, text_length(bytes))
    } else if is_digit(0) || (bytes[0] == b'.' && is_digit(1)) {
        (TokenKind::Number, number_length(bytes))
    } else if is_word_byte(bytes[0]) {
        let length = bytes.iter().take_while(|byte| is_word_byte(**byte)).count();
        let is_raw = bytes[length - 1] == b'R' && bytes.get(length) == Some(&b'"');
        assert!(!is_raw, "raw strings are not read here");
        (TokenKind::Word, length)
    } else {
        let long = LONG_SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
        let length =
            long.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |symbol| symbol.len());
        (TokenKind::Symbol, length)
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn text_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != bytes[0] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn number_length(bytes: &[u8]) -> usize {
    let is_hexadecimal = bytes.len() > 1 && bytes[0] == b'0' && bytes[1].eq_ignore_ascii_case(&b'x');
    let exponents: &[u8] = if is_hexadecimal { b"pP" } else { b"eE" };
    let belongs = |index: usize| match bytes[index] {
        b'+' | b'-' => exponents.contains(&bytes[index - 1]),
        b'\'' => bytes.get(index + 1).is_some_and(u8::is_ascii_hexdigit),
        byte => is_word_byte(byte) || byte == b'.',
    };
    (1..bytes.len()).find(|&index| !belongs(index)).unwrap_or(bytes.len())
}

#[test]
fn tokens_leave_out_comments_and_directives_and_keep_texts_whole() {
    let source = "#define X \\\n 1\na+=1.5e-3; // 2\n/* 3 */ f(\"4 \\\" 5\", '\\'')<=0x1e+6'000u # 7\n";
    let texts: Vec<&str> = tokens(source).iter().map(|token| &source[token.range.clone()]).collect();
    let expected = [
        "a",
        "+=",
        "1.5e-3",
        ";",
        "f",
        "(",
        "\"4 \\\" 5\"",
        ",",
        "'\\''",
        ")",
        "<=",
        "0x1e",
        "+",
        "6'000u",
        "#",
        "7",
    ];
    assert_eq!(texts, expected);
}
