//! The identity of a test, as users and scripts write it. Which tests exist is the analysers' business.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `TARGET::NAME`: the target is the test executable (its path below the build directory), the Maven or Gradle
/// module or the cargo target; the name is the framework's own.
///
/// Example: `tests/core_test::Lexer.SkipsBlanks`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TestId {
    pub target: String,
    pub name: String,
}

impl TestId {
    pub fn new(target: impl Into<String>, name: impl Into<String>) -> TestId {
        TestId { target: target.into(), name: name.into() }
    }

    /// Whether `text` names this test: the whole id, or a suffix of it that starts at a boundary (a path
    /// component of the target, the name, or a dot-separated part of the name).
    pub fn matches_suffix(&self, text: &str) -> bool {
        let whole = self.to_string();
        match whole.strip_suffix(text) {
            Some("") => true,
            Some(rest) => !text.is_empty() && (rest.ends_with(['/', ':', '.'])),
            None => false,
        }
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.target, self.name)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct NotATestId(pub String);

impl fmt::Display for NotATestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a test id: expected TARGET::NAME", self.0)
    }
}

impl std::error::Error for NotATestId {}

impl FromStr for TestId {
    type Err = NotATestId;
    fn from_str(text: &str) -> Result<TestId, NotATestId> {
        match text.split_once("::") {
            Some((target, name)) if !target.is_empty() && !name.is_empty() => Ok(TestId::new(target, name)),
            Some(_) | None => Err(NotATestId(text.to_string())),
        }
    }
}

impl Serialize for TestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TestId, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_round_trips_even_when_the_name_holds_colons() {
        let id: TestId = "core::graph::tests::it_works".parse().unwrap();
        assert_eq!(id, TestId::new("core", "graph::tests::it_works"));
        assert_eq!(id.to_string().parse::<TestId>().unwrap(), id);
    }

    #[test]
    fn suffixes_match_only_at_boundaries() {
        let id = TestId::new("unit/core_test", "Lexer.SkipsBlanks");
        for text in [
            "unit/core_test::Lexer.SkipsBlanks",
            "core_test::Lexer.SkipsBlanks",
            "Lexer.SkipsBlanks",
            "SkipsBlanks",
        ] {
            assert!(id.matches_suffix(text), "{text}");
        }
        for text in ["", "Blanks", "exer.SkipsBlanks", "test::Lexer.SkipsBlanks", "Lexer"] {
            assert!(!id.matches_suffix(text), "{text}");
        }
    }

    #[test]
    fn text_without_a_target_is_refused() {
        assert!("Lexer.SkipsBlanks".parse::<TestId>().is_err());
        assert!("::x".parse::<TestId>().is_err());
    }
}
