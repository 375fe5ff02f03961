//! Which files are the tests' own code, by where they are and what they are called. A statement of a test's own
//! body is satisfied by that test alone, so it says nothing about what the test is good for.

/// The rule by which files are taken for tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnCode {
    by_convention: bool,
    /// Parts of paths that the user names.
    also: Vec<String>,
}

/// Directories that hold tests.
const DIRECTORIES: [&str; 6] = ["test", "tests", "testing", "__tests__", "spec", "unittests"];
/// How the names of test files end, without their extension.
const ENDINGS: [&str; 8] = ["_test", "_tests", "_unittest", "Test", "Tests", ".test", ".spec", "_spec"];
const BEGINNINGS: [&str; 1] = ["test_"];

impl OwnCode {
    /// By the usual directories and names.
    pub fn by_convention() -> OwnCode {
        OwnCode { by_convention: true, also: Vec::new() }
    }

    /// Nothing is left out.
    pub fn nothing() -> OwnCode {
        OwnCode { by_convention: false, also: Vec::new() }
    }

    /// Files whose paths begin so are tests too. Example: `checks/`.
    pub fn and_below(mut self, beginnings: impl IntoIterator<Item = String>) -> OwnCode {
        self.also.extend(beginnings);
        self
    }

    /// Whether a requirement is in a test's own code. Example: `tests/lexer_test.cpp:12`.
    pub fn holds(&self, requirement: &str) -> bool {
        self.also.iter().any(|beginning| requirement.starts_with(beginning.as_str()))
            || self.by_convention && is_test_file(file_of(requirement))
    }
}

/// The file of a requirement: what is before the line.
fn file_of(requirement: &str) -> &str {
    match requirement.split_once(':') {
        Some((file, _)) => file,
        None => requirement,
    }
}

fn is_test_file(file: &str) -> bool {
    let (directories, name) = file.rsplit_once('/').unwrap_or(("", file));
    // A path from the root says more about the machine than about the file.
    let is_below_tests =
        !file.starts_with('/') && directories.split('/').any(|directory| DIRECTORIES.contains(&directory));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    is_below_tests
        || ENDINGS.iter().any(|ending| stem.ends_with(ending))
        || BEGINNINGS.iter().any(|beginning| stem.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_directory_and_name() {
        let own_code = OwnCode::by_convention();
        for name in [
            "tests/a.cpp:1",
            "src/lexer_test.cc:9",
            "pkg/test_x.py:3",
            "src/a.spec.ts:2",
            "x/CartTest.java:1",
        ] {
            assert!(own_code.holds(name), "{name}");
        }
        for name in
            ["src/a.cpp:1", "src/latest.c:1", "src/contest.c:2", "/home/test/p/a.c:1", "src/testable.rs:4"]
        {
            assert!(!own_code.holds(name), "{name}");
        }
        assert!(!OwnCode::nothing().holds("tests/a.cpp:1"));
        assert!(OwnCode::nothing().and_below(["gen/".to_string()]).holds("gen/x.c:4"));
    }
}
