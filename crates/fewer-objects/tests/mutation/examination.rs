//! What is known of the tests in a build directory: fingerprints by the analysis, outcomes by running them.
//! Programs get little memory and time, since a mutant may ask for all there is.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fewer_core::{Digest, Mapping, Snapshot, TestId, Verdict, tts};
use fewer_objects::{Analysis, BuildTree, Given, ListedTest, NoCache, scan, scan_again};
use fewer_runners::{Cancel, Event, Job, RunOptions, TestProgram, googletest, run};

use crate::listed::listed_test;
use crate::memory_cache::MemoryCache;

const TIMEOUT: Duration = Duration::from_secs(10);

/// KiB of address space, no core files, one second of processor time for tests that take milliseconds.
const LIMITED: &str = "ulimit -v 1000000 && ulimit -c 0 && ulimit -t 1 && exec \"$0\" \"$@\"";

/// How a test ended, as far as a change of it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Passed,
    Failed,
    Skipped,
    Inconclusive,
}

pub type Classes = BTreeMap<TestId, Class>;

/// The tests of a build directory by the analysis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Examination {
    snapshot: Snapshot,
    /// Tests whose reach is not known: they run in any case.
    unmapped: BTreeSet<TestId>,
    programs: BTreeMap<String, Program>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Program {
    startup: Digest,
    /// `None` if the program cannot list its tests.
    tests: Option<Vec<googletest::ListedTest>>,
}

impl Examination {
    /// By an analysis that builds on the last one of the directory, which must find what one from scratch finds.
    pub fn of_build(build: &Path, before: Option<&Examination>, kept: &Arc<MemoryCache>) -> Examination {
        let tree = scan_again(build, kept.clone()).expect("the build directory can be read");
        let examination = Examination::of_tree(build, &tree, before);
        let tree = scan(build, &NoCache).expect("the build directory can be read");
        let from_scratch = Examination::of_tree(build, &tree, Some(&examination));
        assert_eq!(examination, from_scratch, "analysing again gives other fingerprints than from scratch");
        examination
    }

    /// Programs that start as they did before are not asked for their tests again.
    fn of_tree(build: &Path, tree: &BuildTree, before: Option<&Examination>) -> Examination {
        let analysis = Analysis::of_build(build, tree, Given::default());
        let mut programs = BTreeMap::new();
        let mut nodes = Vec::new();
        for target in analysis.targets().iter().filter(|target| target.has_googletest) {
            let startup = analysis.startup_fingerprint(target);
            let known = before
                .and_then(|before| before.programs.get(&target.name))
                .filter(|program| program.startup == startup)
                .and_then(|program| program.tests.clone());
            let tests = known
                .or_else(|| googletest::list(&limited(build, &target.name), TIMEOUT, &Cancel::new()).ok());
            let listed: Vec<ListedTest> = tests.iter().flatten().map(listed_test).collect();
            nodes.extend(analysis.googletest_tests(target, &listed));
            programs.insert(target.name.clone(), Program { startup, tests });
        }
        let (graph, fingerprints) = analysis.into_graph(nodes);
        let unmapped =
            graph.tests().iter().filter(|test| test.mapping != Mapping::Mapped).map(|test| test.id.clone());
        Examination { unmapped: unmapped.collect(), snapshot: fingerprints.snapshot(&graph), programs }
    }

    /// The tests that can run, that is all but the disabled ones.
    pub fn tests(&self) -> BTreeSet<TestId> {
        let listed = |(target, program): (&String, &Program)| -> Vec<TestId> {
            let tests = program.tests.iter().flatten().filter(|test| !test.disabled);
            tests.map(|test| TestId::new(target, &test.name)).collect()
        };
        self.programs.iter().flat_map(listed).collect()
    }

    pub fn unmapped(&self) -> &BTreeSet<TestId> {
        &self.unmapped
    }

    /// Those of this state's tests that are selected after the change to a later state.
    pub fn selected(&self, later: &Examination) -> BTreeSet<TestId> {
        let differing = tts(&self.snapshot, &later.snapshot);
        let is_listed =
            |test: &TestId| later.programs.get(&test.target).is_some_and(|program| program.tests.is_some());
        let is_selected =
            |test: &TestId| !is_listed(test) || differing.contains(test) || later.unmapped.contains(test);
        self.tests().into_iter().filter(is_selected).collect()
    }
}

/// Runs the tests, those of a program in one process where that survives.
pub fn outcomes(build: &Path, tests: &BTreeSet<TestId>) -> Classes {
    let mut selections: BTreeMap<&str, Vec<googletest::SelectedTest>> = BTreeMap::new();
    for test in tests {
        let names = selections.entry(&test.target).or_default();
        names.push(googletest::SelectedTest::new(&test.name, None));
    }
    let selections = selections
        .into_iter()
        .map(|(target, tests)| googletest::Selection::new(limited(build, target), tests))
        .collect();
    let workers = NonZeroUsize::new(2).expect("two is not zero");
    let options = RunOptions { workers, test_timeout: TIMEOUT, ..RunOptions::default() };
    let jobs = googletest::plan_shards(selections, workers).into_iter().map(Job::Shard).collect();
    let mut classes = Classes::new();
    run(jobs, &options, &mut |event| match event {
        Event::TestFinished(result) => {
            classes.insert(result.test, class(result.outcome.verdict));
        }
        Event::TestStarted { .. }
        | Event::TestEnded { .. }
        | Event::ProcessFailed(_)
        | Event::Indivisible(_) => {}
    });
    assert_eq!(classes.len(), tests.len(), "every test has an outcome");
    classes
}

fn class(verdict: Verdict) -> Class {
    match verdict {
        Verdict::Passed => Class::Passed,
        Verdict::Failed | Verdict::Crashed | Verdict::TimedOut => Class::Failed,
        Verdict::Skipped | Verdict::Excluded => Class::Skipped,
        Verdict::Inconclusive => Class::Inconclusive,
    }
}

fn limited(build: &Path, target: &str) -> TestProgram {
    let program = build.join(target).display().to_string();
    TestProgram {
        arguments: vec!["-c".to_string(), LIMITED.to_string(), program],
        ..TestProgram::new(target, "sh", build)
    }
}
