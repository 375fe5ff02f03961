//! Patterns of paths with captures: `tests/{name}_test.py`. They match texts; which files there are, and what a
//! match means, is told elsewhere.

use std::collections::BTreeMap;
use std::fmt;

/// `*` is anything within a directory's or file's name, `**` anything, `**/` any directories or none, `?` one
/// character; `{name}` captures one or more characters of a name, `{*name}` also across directories. A capture
/// that comes twice means the same text twice, and takes as much as it can.
///
/// Example: `src/test/{*package}/{class}Test.java`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPattern {
    tokens: Vec<Token>,
}

/// What captures stand for.
pub type Captures = BTreeMap<String, String>;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Literal(String),
    /// `?`
    One,
    /// `*`
    Within,
    /// `**`
    Across,
    /// `**/`
    Directories,
    Capture {
        name: String,
        is_across: bool,
    },
}

/// A text that is no pattern, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAPattern {
    text: String,
    cause: &'static str,
}

impl fmt::Display for NotAPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a pattern of paths: {}", self.text, self.cause)
    }
}

impl std::error::Error for NotAPattern {}

impl PathPattern {
    pub fn parse(text: &str) -> Result<PathPattern, NotAPattern> {
        let refused = |cause| NotAPattern { text: text.to_string(), cause };
        if text.is_empty() || text.starts_with('/') {
            return Err(refused("give a path below the directory of fewer.toml"));
        }
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (token, length) = match first {
                '*' if rest.starts_with("**/")
                    && (rest.len() == text.len() || ends_directory(text, rest)) =>
                {
                    (Token::Directories, 3)
                }
                '*' if rest.starts_with("**") => (Token::Across, 2),
                '*' => (Token::Within, 1),
                '?' => (Token::One, 1),
                '{' => {
                    let end = rest.find('}').ok_or_else(|| refused("a '{' without a '}'"))?;
                    (
                        capture(&rest[1..end]).ok_or_else(|| refused("a capture is {name} or {*name}"))?,
                        end + 1,
                    )
                }
                '}' => return Err(refused("a '}' without a '{'")),
                _ => {
                    let end = rest.find(['*', '?', '{', '}']).unwrap_or(rest.len());
                    (Token::Literal(rest[..end].to_string()), end)
                }
            };
            tokens.push(token);
            rest = &rest[length..];
        }
        Ok(PathPattern { tokens })
    }

    pub fn matches(&self, path: &str) -> bool {
        matched(&self.tokens, path, &mut Vec::new())
    }

    /// What the captures stand for, if the path matches.
    pub fn captures(&self, path: &str) -> Option<Captures> {
        let mut found = Vec::new();
        let is_match = matched(&self.tokens, path, &mut found);
        let owned = |(name, text): (&str, &str)| (name.to_string(), text.to_string());
        is_match.then(|| found.into_iter().map(owned).collect())
    }

    /// The names of the captures.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter_map(|token| match token {
            Token::Capture { name, .. } => Some(name.as_str()),
            Token::Literal(_) | Token::One | Token::Within | Token::Across | Token::Directories => None,
        })
    }

    /// With texts in the place of captures.
    pub fn bound(&self, captures: &Captures) -> PathPattern {
        let mut tokens: Vec<Token> = Vec::new();
        for token in &self.tokens {
            let token = match token {
                Token::Capture { name, .. } => captures.get(name).map(|text| Token::Literal(text.clone())),
                Token::Literal(_) | Token::One | Token::Within | Token::Across | Token::Directories => None,
            }
            .unwrap_or_else(|| token.clone());
            match (tokens.last_mut(), token) {
                (Some(Token::Literal(text)), Token::Literal(more)) => text.push_str(&more),
                (_, token) => tokens.push(token),
            }
        }
        PathPattern { tokens }
    }

    /// What every matching path starts with.
    pub fn prefix(&self) -> &str {
        match self.tokens.first() {
            Some(Token::Literal(text)) => text,
            Some(Token::One | Token::Within | Token::Across | Token::Directories | Token::Capture { .. })
            | None => "",
        }
    }

    /// Whether only one path can match, which then is the prefix.
    pub fn is_literal(&self) -> bool {
        matches!(self.tokens[..], [Token::Literal(_)])
    }
}

fn ends_directory(text: &str, rest: &str) -> bool {
    text[..text.len() - rest.len()].ends_with('/')
}

fn capture(inside: &str) -> Option<Token> {
    let name = inside.strip_prefix('*').unwrap_or(inside);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    is_name.then(|| Token::Capture { name: name.to_string(), is_across: name.len() < inside.len() })
}

/// Tries the longest text for each wildcard first. Patterns are short, so that going back costs little.
fn matched<'p>(tokens: &'p [Token], path: &'p str, found: &mut Vec<(&'p str, &'p str)>) -> bool {
    let Some((token, rest)) = tokens.split_first() else { return path.is_empty() };
    let within = &path[..path.find('/').unwrap_or(path.len())];
    let mut goes_on = |length: usize| matched(rest, &path[length..], found);
    match token {
        Token::Literal(text) => path.starts_with(text.as_str()) && goes_on(text.len()),
        Token::One => within.chars().next().is_some_and(|first| goes_on(first.len_utf8())),
        Token::Within => boundaries(within).any(goes_on),
        Token::Across => boundaries(path).any(goes_on),
        Token::Directories => {
            let after_slashes = path.rmatch_indices('/').map(|(at, _)| at + 1);
            after_slashes.chain([0]).any(goes_on)
        }
        Token::Capture { name, is_across } => {
            if let Some(&(_, known)) = found.iter().find(|(known, _)| known == name) {
                return path.starts_with(known) && matched(rest, &path[known.len()..], found);
            }
            let before = found.len();
            boundaries(if *is_across { path } else { within }).filter(|length| *length > 0).any(|length| {
                found.push((name, &path[..length]));
                let is_match = matched(rest, &path[length..], found);
                if !is_match {
                    found.truncate(before);
                }
                is_match
            })
        }
    }
}

/// Every place where a text can be cut, the last one first.
fn boundaries(text: &str) -> impl Iterator<Item = usize> + '_ {
    (0..=text.len()).rev().filter(|at| text.is_char_boundary(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> PathPattern {
        PathPattern::parse(text).unwrap()
    }

    #[test]
    fn wildcards_stay_within_a_name_unless_doubled() {
        for (text, path, expected) in [
            ("*.py", "a.py", true),
            ("*.py", "dir/a.py", false),
            ("**/*.py", "a.py", true),
            ("**/*.py", "dir/sub/a.py", true),
            ("tests/**/*_test.py", "tests/a_test.py", true),
            ("tests/**/*_test.py", "tests/x/y/a_test.py", true),
            ("tests/**/*_test.py", "tests/a.py", false),
            ("src/**", "src/x/y", true),
            ("src/**", "srcs", false),
            ("t?", "t1", true),
            ("t?", "t/", false),
            ("t?", "té", true),
            ("a**b", "a/x/b", true),
            ("src/{name}.c", "src/a.c", true),
            ("src/{name}.c", "src/.c", false),
            ("src/{name}.c", "src/a/b.c", false),
            ("{*dir}/x", "a/b/x", true),
            ("{a}/{a}.c", "x/x.c", true),
            ("{a}/{a}.c", "x/y.c", false),
        ] {
            assert_eq!(pattern(text).matches(path), expected, "{text} {path}");
        }
    }

    #[test]
    fn captures_are_put_into_other_patterns() {
        let from = pattern("src/test/{*package}/{class}Test.java");
        let captures = from.captures("src/test/org/example/TestTest.java").unwrap();
        assert_eq!((captures["package"].as_str(), captures["class"].as_str()), ("org/example", "Test"));
        let to = pattern("src/main/{*package}/{class}.java").bound(&captures);
        assert!(to.is_literal());
        assert_eq!(to.prefix(), "src/main/org/example/Test.java");
        let to = pattern("data/{class}/**").bound(&captures);
        assert!(!to.is_literal());
        assert_eq!(to.prefix(), "data/Test/");
        assert_eq!(from.captures("src/main/X.java"), None);
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_the_cause() {
        for text in ["", "/a", "{", "a}", "{}", "{*}", "{a b}", "{a"] {
            let message = PathPattern::parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("'{text}' is not a pattern of paths: ")), "{message}");
        }
    }
}
