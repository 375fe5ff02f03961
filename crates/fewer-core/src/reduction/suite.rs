//! A test suite and what its tests satisfy: the matrix with the names of tests and requirements and the recorded
//! durations. Tests are in the order of their names, so that a test's number also breaks ties.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::matrix::{Matrix, MatrixBuilder};
use crate::test_id::TestId;

/// What is to be satisfied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementKind {
    /// Statements that are covered.
    Statements,
    /// Mutants that are killed.
    Mutants,
}

impl RequirementKind {
    pub const ALL: [RequirementKind; 2] = [RequirementKind::Statements, RequirementKind::Mutants];

    /// As on the command line and in files.
    pub fn word(self) -> &'static str {
        match self {
            RequirementKind::Statements => "statements",
            RequirementKind::Mutants => "mutants",
        }
    }

    /// The inverse of [`RequirementKind::word`].
    pub fn from_word(word: &str) -> Option<RequirementKind> {
        RequirementKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Many short names in one piece of memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    text: String,
    /// Where each name ends.
    ends: Vec<usize>,
}

impl Names {
    pub fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    pub fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// Names that are numbered in the order they are first met.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NumberedNames {
    names: Names,
    numbers: HashMap<Box<str>, u32>,
}

impl NumberedNames {
    /// The number of a name, new or known.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 requirements");
        self.names.push(name);
        self.numbers.insert(name.into(), number);
        number
    }

    pub fn names(&self) -> &Names {
        &self.names
    }
}

/// A suite at one revision.
#[derive(Clone, PartialEq, Debug)]
pub struct Suite {
    pub kind: RequirementKind,
    /// In the order of their names; a test's place is its row in the matrix.
    pub tests: Vec<TestId>,
    /// Seconds, where a duration is recorded.
    pub durations: Vec<Option<f64>>,
    /// Example: `src/lexer.cpp:17`.
    pub requirements: Names,
    pub matrix: Matrix,
}

impl Suite {
    /// A suite without names for its requirements. For experiments.
    ///
    /// # Panics
    /// Where the tests are not as many as the rows, or not in the order of their names.
    pub fn of_matrix(tests: Vec<TestId>, durations: Vec<Option<f64>>, matrix: Matrix) -> Suite {
        assert!(tests.len() == matrix.tests() && durations.len() == tests.len() && tests.is_sorted());
        let kind = RequirementKind::Statements;
        Suite { kind, tests, durations, requirements: Names::default(), matrix }
    }

    pub fn position(&self, test: &TestId) -> Option<usize> {
        self.tests.binary_search(test).ok()
    }

    /// The rows of the tests that the suite has.
    pub fn positions<'t>(&self, tests: impl IntoIterator<Item = &'t TestId>) -> Vec<usize> {
        tests.into_iter().filter_map(|test| self.position(test)).collect()
    }

    /// For every test its place when equal candidates are compared: the shorter recorded duration first, those
    /// without one last, then the name.
    pub fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.tests.len() as u32).collect();
        order.sort_by(|&a, &b| {
            by_duration(self.durations[a as usize], self.durations[b as usize]).then(a.cmp(&b))
        });
        let mut ranks = vec![0; order.len()];
        for (rank, &test) in order.iter().enumerate() {
            ranks[test as usize] = rank as u32;
        }
        ranks
    }

    /// What a requirement is called.
    pub fn requirement(&self, index: usize) -> String {
        if index < self.requirements.len() {
            self.requirements.get(index).to_string()
        } else {
            format!("requirement {index}")
        }
    }
}

fn by_duration(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// A suite that is put together from single findings, in whatever order they come.
#[derive(Debug)]
pub struct SuiteBuilder {
    kind: RequirementKind,
    names: NumberedNames,
    rows: BTreeMap<TestId, (Option<f64>, Vec<u32>)>,
}

impl SuiteBuilder {
    pub fn new(kind: RequirementKind) -> SuiteBuilder {
        SuiteBuilder { kind, names: NumberedNames::default(), rows: BTreeMap::new() }
    }

    /// The number of a requirement, new or known.
    pub fn requirement(&mut self, name: &str) -> u32 {
        self.names.number(name)
    }

    /// A test of the suite, with what it satisfies in addition to what is known already.
    pub fn test(&mut self, test: TestId, satisfied: impl IntoIterator<Item = u32>) {
        self.rows.entry(test).or_default().1.extend(satisfied);
    }

    /// How long a test takes; where it is said more than once, the times add up (methods of a class).
    pub fn duration(&mut self, test: TestId, seconds: f64) {
        let duration = &mut self.rows.entry(test).or_default().0;
        *duration = Some(duration.unwrap_or(0.0) + seconds);
    }

    pub fn has_tests(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The suite, with its requirements in the order of their names: the order of findings leaves no trace.
    pub fn finish(self) -> Suite {
        let names = self.names.names();
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| names.get(a as usize).cmp(names.get(b as usize)));
        let mut requirements = Names::default();
        let mut numbers = vec![0; order.len()];
        for (number, &old) in order.iter().enumerate() {
            requirements.push(names.get(old as usize));
            numbers[old as usize] = number as u32;
        }
        let entries = self.rows.values().map(|(_, satisfied)| satisfied.len()).sum();
        let mut matrix = MatrixBuilder::with_capacity(order.len() as u32, self.rows.len(), entries);
        let (mut tests, mut durations) = (Vec::new(), Vec::new());
        for (test, (duration, mut satisfied)) in self.rows {
            satisfied.iter_mut().for_each(|requirement| *requirement = numbers[*requirement as usize]);
            matrix.test(&mut satisfied);
            tests.push(test);
            durations.push(duration);
        }
        Suite { kind: self.kind, tests, durations, requirements, matrix: matrix.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_findings_leaves_no_trace() {
        let build = |order: &[(&str, &str)]| {
            let mut builder = SuiteBuilder::new(RequirementKind::Statements);
            for (test, name) in order {
                let requirement = builder.requirement(name);
                builder.test(TestId::new("t", *test), [requirement]);
            }
            builder.finish()
        };
        let one = build(&[("b", "x:1"), ("a", "x:2"), ("b", "x:2"), ("b", "x:1")]);
        let other = build(&[("a", "x:2"), ("b", "x:2"), ("b", "x:1")]);
        assert_eq!(one, other);
        assert_eq!(one.tests, [TestId::new("t", "a"), TestId::new("t", "b")]);
        assert_eq!(one.requirements.iter().collect::<Vec<_>>(), ["x:1", "x:2"]);
        assert_eq!((one.matrix.row(0), one.matrix.row(1)), (&[1][..], &[0, 1][..]));
    }

    #[test]
    fn the_shorter_test_ranks_first_then_the_name_and_unknown_durations_last() {
        let mut builder = SuiteBuilder::new(RequirementKind::Statements);
        for (name, seconds) in [("a", None), ("b", Some(2.0)), ("c", Some(1.0)), ("d", Some(1.0))] {
            builder.test(TestId::new("t", name), []);
            if let Some(seconds) = seconds {
                builder.duration(TestId::new("t", name), seconds);
            }
        }
        assert_eq!(builder.finish().ranks(), [3, 2, 0, 1]);
    }
}
