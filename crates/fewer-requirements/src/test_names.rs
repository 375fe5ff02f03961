//! From the names that tools give to tests to fewer's test ids. A name that fits several tests is not guessed at.

use std::collections::HashMap;

use fewer_core::TestId;

/// The tests of a suite, by everything that tools call them.
#[derive(Clone, Debug, Default)]
pub struct KnownTests {
    tests: Vec<TestId>,
    /// `None` where a name fits several.
    by_name: HashMap<String, Option<usize>>,
}

impl KnownTests {
    pub fn new(tests: impl IntoIterator<Item = TestId>) -> KnownTests {
        let mut known = KnownTests { tests: tests.into_iter().collect(), by_name: HashMap::new() };
        known.tests.sort();
        known.tests.dedup();
        for index in 0..known.tests.len() {
            let test = &known.tests[index];
            let whole = test.to_string();
            // `core_test::A.B`, where the target is `unit/core_test`.
            let program = test.target.rsplit('/').next().map(|program| format!("{program}::{}", test.name));
            let mut names = vec![plain(&whole), plain(&test.name), test.name.clone(), whole];
            names.extend(program.as_deref().map(plain));
            names.extend(program);
            names.sort();
            names.dedup();
            for name in names {
                known
                    .by_name
                    .entry(name)
                    .and_modify(|entry| *entry = entry.filter(|&other| other == index))
                    .or_insert(Some(index));
            }
        }
        known
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    pub fn tests(&self) -> &[TestId] {
        &self.tests
    }

    /// The test of that name: as written, without the characters that tools replace, or, for a method of a class
    /// that is known as a whole, the class.
    pub fn find(&self, name: &str) -> Option<TestId> {
        let class = name.split_once('#').map(|(class, _)| class);
        let outermost = class.and_then(|class| class.split_once('$')).map(|(class, _)| class);
        let candidates = [Some(name), class, outermost].into_iter().flatten();
        let index = candidates
            .flat_map(|name| [name.to_string(), plain(name)])
            .find_map(|name| self.by_name.get(&name));
        index.copied().flatten().map(|index| self.tests[index].clone())
    }

    /// The id of a test where no suite is known: what the name says, below a target of the user's choice.
    pub fn unknown(name: &str, target: &str) -> TestId {
        name.parse().unwrap_or_else(|_| TestId::new(target, name))
    }
}

/// Letters and digits; everything else is `_`, as lcov wants test names to be.
fn plain(name: &str) -> String {
    name.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(ids: &[&str]) -> KnownTests {
        KnownTests::new(ids.iter().map(|id| id.parse().unwrap()))
    }

    #[track_caller]
    fn check(known: &KnownTests, name: &str, expected: Option<&str>) {
        assert_eq!(known.find(name).map(|id| id.to_string()).as_deref(), expected, "{name}");
    }

    #[test]
    fn names_are_found_as_tools_write_them() {
        let known =
            known(&["unit/core_test::Lexer.Skips/0", "unit/core_test::Lexer.Ends", "app::shop.CartTest"]);
        for name in
            ["unit/core_test::Lexer.Skips/0", "core_test::Lexer.Skips/0", "Lexer.Skips/0", "Lexer_Skips_0"]
        {
            check(&known, name, Some("unit/core_test::Lexer.Skips/0"));
        }
        check(&known, "core_test__Lexer_Ends", Some("unit/core_test::Lexer.Ends"));
        check(&known, "shop.CartTest#addsUp", Some("app::shop.CartTest"));
        check(&known, "shop.CartTest$Nested#addsUp", Some("app::shop.CartTest"));
        check(&known, "Lexer.Begins", None);
    }

    #[test]
    fn a_name_that_fits_several_tests_is_not_guessed_at() {
        let known = known(&["a::S.N", "b::S.N", "c::S_N"]);
        check(&known, "S.N", None);
        check(&known, "a::S.N", Some("a::S.N"));
        assert_eq!(KnownTests::unknown("S.N", "x").to_string(), "x::S.N");
        assert_eq!(KnownTests::unknown("t.py::f", "x").to_string(), "t.py::f");
    }
}
