//! Files that cannot be parsed: a lexer that knows comments, strings and names only. The whole file is then one
//! content, shared by every type it seems to declare, and every name it mentions is a reference.

use std::collections::HashSet;

use fewer_core::{Digest, Domain};

use crate::mention::{Collected, namable, unquoted};
use crate::source_facts::{Import, MemberFacts, SourceFacts, TypeFacts};
use crate::summary::{ClassTraits, MemberTraits, Texts};

const WHOLE_FILE: Domain = Domain::new("java.source.whole");

/// So many references all types of a file have together: each has all of them. A file with more is made to exhaust memory.
const MOST_MENTIONED: usize = 4 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'s> {
    /// A dotted name.
    Name(&'s str),
    String(&'s str),
    Open,
    Close,
    Other(&'s str),
}

/// Facts of a file as a whole, named after the file; `why` completes the sentence "the file ...".
pub(crate) fn read_broken(text: &str, why: &str) -> SourceFacts {
    let tokens = tokens(text);
    let mut facts = SourceFacts { broken: Some(why.to_string()), ..SourceFacts::default() };
    let mut texts = Texts::default();
    let mut collected = Collected::default();
    let mut content: Vec<u8> = Vec::new();
    let mut annotations = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) => {
                collected.mentions.types.push(texts.id(name));
                let last = name.rsplit('.').next().unwrap_or(name);
                collected.mentions.any.push(texts.id(last));
                if index > 0 && tokens[index - 1] == Token::Other("@") {
                    annotations.push(texts.id(name));
                }
            }
            Token::String(literal) => {
                let pieces = namable(unquoted(literal)).map(|piece| texts.id(piece));
                collected.mentions.strings.extend(pieces);
            }
            Token::Open | Token::Close | Token::Other(_) => {}
        }
        content.extend_from_slice(spelling(*token).as_bytes());
        content.push(0);
    }
    let content = Digest::of(WHOLE_FILE, &content);
    let mentions = collected.finish();
    let whole = MemberFacts {
        name: texts.id("<clinit>"),
        key: texts.id("<whole file>"),
        content,
        traits: MemberTraits::INITIALISER.with(MemberTraits::METHOD),
        annotations,
        mentions: mentions.clone(),
    };
    let declared = |name: &str, parent| TypeFacts {
        name: name.to_string(),
        parent,
        traits: ClassTraits::OPAQUE,
        header: content,
        header_mentions: mentions.clone(),
        members: vec![whole.clone()],
        ..TypeFacts::default()
    };
    facts.types.push(declared("", None));
    let mentioned = mentions.types.len() + mentions.any.len() + mentions.strings.len();
    for (name, depth) in declarations(&tokens).into_iter().take(MOST_MENTIONED / (mentioned + 1) + 1) {
        facts.types.push(declared(name, Some(0)));
        if depth == 0 {
            facts.types.push(declared(name, None));
        }
    }
    (facts.package, facts.imports) = clauses(&tokens);
    facts.texts = texts.list;
    facts
}

/// Names after `class`, `interface`, `enum`, `record`, with how deep in braces they stand.
fn declarations<'s>(tokens: &[Token<'s>]) -> Vec<(&'s str, usize)> {
    let mut depth = 0usize;
    let mut found: Vec<(&str, usize)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Name("class" | "interface" | "enum" | "record") => {
                if let Some(Token::Name(name)) = tokens.get(index + 1)
                    && !name.contains('.')
                    && known.insert(name)
                {
                    found.push((name, depth));
                }
            }
            Token::Name(_) | Token::String(_) | Token::Other(_) => {}
        }
    }
    found
}

fn clauses(tokens: &[Token<'_>]) -> (String, Vec<Import>) {
    let mut package = String::new();
    let mut imports = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let mut rest = tokens[index + 1..].iter();
        match token {
            Token::Name("package") if package.is_empty() => {
                if let Some(Token::Name(name)) = rest.next() {
                    package = (*name).to_string();
                }
            }
            Token::Name("import") => {
                let mut next = rest.next();
                let is_static = next == Some(&Token::Name("static"));
                if is_static {
                    next = rest.next();
                }
                if let Some(Token::Name(name)) = next {
                    let is_wildcard = rest.next() == Some(&Token::Other(".")) || name.ends_with('.');
                    let name = name.trim_end_matches('.').to_string();
                    imports.push(Import { name, is_static, is_wildcard });
                }
            }
            Token::Name(_) | Token::String(_) | Token::Open | Token::Close | Token::Other(_) => {}
        }
    }
    (package, imports)
}

fn spelling<'s>(token: Token<'s>) -> &'s str {
    match token {
        Token::Name(text) | Token::String(text) | Token::Other(text) => text,
        Token::Open => "{",
        Token::Close => "}",
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            // An escaped line end inside a comment can hide code: such a line is read as code.
            let line = rest.find('\n').unwrap_or(rest.len());
            if rest[..line].contains("\\u") { 2 } else { line }
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if first == '"' || first == '\'' {
            let length = literal_length(rest, first);
            tokens.push(Token::String(&rest[..length]));
            length
        } else if is_name_start(first) {
            let length =
                rest.find(|c: char| !(is_name_start(c) || c.is_numeric() || c == '.')).unwrap_or(rest.len());
            tokens.push(Token::Name(&rest[..length]));
            length
        } else {
            let length = first.len_utf8();
            tokens.push(match first {
                '{' => Token::Open,
                '}' => Token::Close,
                _ => Token::Other(&rest[..length]),
            });
            length
        };
        rest = &rest[length..];
    }
    tokens
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

/// A literal up to its closing quote, else to the end of the line.
fn literal_length(text: &str, quote: char) -> usize {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        return block.find("\"\"\"").map_or(text.len(), |end| end + 6);
    }
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return index,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}
