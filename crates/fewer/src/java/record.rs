//! A compiled Java project as a state records it, and its graph: the one way from classes and inputs to a graph, for
//! what is at hand and for what was recorded.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use fewer_core::{Digest, DigestBuilder, Domain, Graph, Mapping, TestId, TestNode};
use fewer_java::{Class, ClassSummary, Dependencies, Input, Level, Options, Program, ToldTest};
use serde::{Deserialize, Serialize};

/// The kind of the recorded blob.
pub const RECORD_KIND: &str = "java-record";

const RECORD: Domain = Domain::new("java.record");
const OPTIONS: Domain = Domain::new("java.options");
const VERSION: u32 = 1;

#[derive(Clone, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    pub options: Options,
    inputs: Vec<Input>,
    told: Vec<NamedTest>,
}

/// A test that nothing in its classes tells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedTest {
    pub id: TestId,
    /// Binary names of top-level classes of its module.
    pub classes: Vec<String>,
}

impl Record {
    pub fn new(options: Options, inputs: Vec<Input>, told: Vec<NamedTest>) -> Record {
        Record { version: VERSION, options, inputs, told }
    }

    pub fn told(&self) -> &[NamedTest] {
        &self.told
    }

    pub fn encode(&self) -> (Digest, Vec<u8>) {
        let bytes = serde_json::to_vec(self).expect("text keys and no failing parts");
        (Digest::of(RECORD, &bytes), bytes)
    }

    /// `None` for another version or damaged bytes.
    pub fn decode(bytes: &[u8]) -> Option<Record> {
        serde_json::from_slice(bytes).ok().filter(|record: &Record| record.version == VERSION)
    }

    /// The graph of a program with its tests, and what could not be seen.
    pub fn graph(&self, program: &Program) -> (Graph, Vec<String>) {
        let mut by_name: HashMap<(&str, &str), u32> = HashMap::new();
        for (index, class) in program.classes.iter().enumerate() {
            by_name.insert((&class.module, &class.summary.name), index as u32);
        }
        let mut told = Vec::new();
        let mut unmapped = Vec::new();
        for test in &self.told {
            let index = |name: &String| by_name.get(&(test.id.target.as_str(), name.as_str())).copied();
            let classes: Vec<u32> = test.classes.iter().filter_map(index).collect();
            if classes.is_empty() {
                unmapped.push(unmapped_test(test.id.clone()));
            } else {
                told.push(ToldTest { id: test.id.clone(), classes });
            }
        }
        let analysed = program.analyse_told(self.options, &told);
        let mut tests = unique(analysed.graph.tests());
        let known: BTreeSet<TestId> = tests.iter().map(|test| test.id.clone()).collect();
        tests.extend(unmapped.into_iter().filter(|test| !known.contains(&test.id)));
        (analysed.graph.with_tests(tests), analysed.notes)
    }

    /// The graph of a recorded state, given its classes with their modules.
    pub fn recorded_graph(&self, classes: Vec<(String, ClassSummary)>) -> Graph {
        let classes = classes
            .into_iter()
            .map(|(module, summary)| Class { module: module.as_str().into(), summary: Arc::new(summary) });
        self.graph(&Program { classes: classes.collect(), inputs: self.inputs.clone() }).0
    }

    /// Part of every test's fingerprint where Java is not looked at as usual, so that outcomes are kept apart.
    pub fn circumstances(&self) -> Option<Digest> {
        let Options { dependencies, level, .. } = self.options;
        let words = match (dependencies, level) {
            (Dependencies::Full, Level::Class) => return None,
            (Dependencies::Full, Level::Member) => "full member",
            (Dependencies::Firewall, Level::Class) => "firewall class",
            (Dependencies::Firewall, Level::Member) => "firewall member",
        };
        Some(DigestBuilder::new(OPTIONS).text(words).finish())
    }
}

/// A class may be both in the main and in the test directory of a module.
fn unique(tests: &[TestNode]) -> Vec<TestNode> {
    let mut unique: Vec<TestNode> = Vec::with_capacity(tests.len());
    for test in tests {
        match unique.last_mut() {
            Some(last) if last.id == test.id => last.roots.extend(&test.roots),
            Some(_) | None => unique.push(test.clone()),
        }
    }
    unique
}

fn unmapped_test(id: TestId) -> TestNode {
    let cause = "the build tool runs it, and no class of the module has this name".to_string();
    TestNode { id, roots: Vec::new(), mapping: Mapping::Unmapped { cause }, disabled: false }
}
