//! What a tool found, under the names that the tool uses; and the suite that it becomes once tests are known.

use std::collections::{BTreeMap, BTreeSet};

use fewer_core::TestId;
use fewer_core::reduction::{NumberedNames, RequirementKind, Suite, SuiteBuilder};

use crate::own_code::OwnCode;

/// Tests and what they satisfy, by the tool's own names.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    pub kind: RequirementKind,
    names: NumberedNames,
    tests: BTreeMap<String, Vec<u32>>,
    /// What the user should know about the file.
    pub notes: BTreeSet<String>,
}

/// A suite under fewer's test ids.
#[derive(Clone, PartialEq, Debug)]
pub struct Matched {
    pub suite: Suite,
    /// Names of the tool that are no test of the suite.
    pub unmatched: Vec<String>,
}

impl Findings {
    pub fn new(kind: RequirementKind) -> Findings {
        Findings { kind, names: NumberedNames::default(), tests: BTreeMap::new(), notes: BTreeSet::new() }
    }

    /// The number of a requirement, new or known.
    pub fn requirement(&mut self, name: &str) -> u32 {
        self.names.number(name)
    }

    /// A statement. Example: `src/lexer.cpp:17`.
    pub fn statement(&mut self, file: &str, line: u64) -> u32 {
        self.requirement(&format!("{file}:{line}"))
    }

    /// That a test exists, whether it satisfies anything or not.
    pub fn test(&mut self, test: &str) {
        if !self.tests.contains_key(test) {
            self.tests.insert(test.to_string(), Vec::new());
        }
    }

    pub fn satisfied(&mut self, test: &str, requirement: u32) {
        match self.tests.get_mut(test) {
            Some(satisfied) => satisfied.push(requirement),
            None => {
                self.tests.insert(test.to_string(), vec![requirement]);
            }
        }
    }

    pub fn tests(&self) -> impl Iterator<Item = &str> {
        self.tests.keys().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Adds what another file says; both must be of one kind.
    ///
    /// # Panics
    /// Where they are not.
    pub fn add(&mut self, other: Findings) {
        assert_eq!(self.kind, other.kind, "statements and mutants are kept apart");
        let numbers: Vec<u32> = other.names.names().iter().map(|name| self.requirement(name)).collect();
        for (test, satisfied) in other.tests {
            let satisfied = satisfied.into_iter().map(|requirement| numbers[requirement as usize]);
            self.tests.entry(test).or_default().extend(satisfied);
        }
        self.notes.extend(other.notes);
    }

    /// Without the requirements in the tests' own code, and with paths below `root` shortened. Every test covers
    /// its own body, so that no test would ever be redundant. Returns how many statements went.
    pub fn trim(&mut self, root: Option<&str>, own_code: &OwnCode) -> usize {
        let below = root.map(|root| format!("{}/", root.trim_end_matches('/')));
        let shown = |name: &str| -> String {
            let name = name.strip_prefix("./").unwrap_or(name);
            below.as_deref().and_then(|below| name.strip_prefix(below)).unwrap_or(name).to_string()
        };
        let mut trimmed = Findings::new(self.kind);
        let numbers: Vec<Option<u32>> = self
            .names
            .names()
            .iter()
            .map(|name| {
                let name = shown(name);
                (!own_code.holds(&name)).then(|| trimmed.requirement(&name))
            })
            .collect();
        let dropped = numbers.iter().filter(|number| number.is_none()).count();
        for satisfied in self.tests.values_mut() {
            *satisfied = satisfied.iter().filter_map(|&requirement| numbers[requirement as usize]).collect();
        }
        self.names = trimmed.names;
        dropped
    }

    /// The suite under the ids that `find` gives for a name: none, one, or all that the name stands for.
    pub fn matched(self, find: impl Fn(&str) -> Vec<TestId>) -> Matched {
        let mut builder = SuiteBuilder::new(self.kind);
        let numbers: Vec<u32> = self.names.names().iter().map(|name| builder.requirement(name)).collect();
        let mut unmatched = Vec::new();
        for (name, satisfied) in self.tests {
            let ids = find(&name);
            if ids.is_empty() {
                unmatched.push(name);
                continue;
            }
            for id in ids {
                builder.test(id, satisfied.iter().map(|&requirement| numbers[requirement as usize]));
            }
        }
        Matched { suite: builder.finish(), unmatched }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_up_whatever_numbers_they_use() {
        let file = |test: &str, lines: [u64; 2]| {
            let mut findings = Findings::new(RequirementKind::Statements);
            for line in lines {
                let statement = findings.statement("a.c", line);
                findings.satisfied(test, statement);
            }
            findings
        };
        let mut all = file("x", [1, 2]);
        all.add(file("y", [2, 3]));
        let suite = all.matched(|name| vec![TestId::new("t", name)]).suite;
        assert_eq!(suite.requirements.iter().collect::<Vec<_>>(), ["a.c:1", "a.c:2", "a.c:3"]);
        assert_eq!((suite.matrix.row(0), suite.matrix.row(1)), (&[0, 1][..], &[1, 2][..]));
    }

    #[test]
    fn paths_are_shortened_and_the_tests_own_code_goes() {
        let mut findings = Findings::new(RequirementKind::Statements);
        for file in ["/p/src/a.c", "/p/tests/a_test.c", "/q/b.c"] {
            let statement = findings.statement(file, 1);
            findings.satisfied("x", statement);
        }
        assert_eq!(findings.trim(Some("/p"), &OwnCode::by_convention()), 1);
        let suite = findings.matched(|name| vec![TestId::new("t", name)]).suite;
        assert_eq!(suite.requirements.iter().collect::<Vec<_>>(), ["/q/b.c:1", "src/a.c:1"]);
        assert_eq!(suite.matrix.row(0), [0, 1]);
    }
}
