//! How many tests of the bundled C++ example are selected after a change, by how it is built and read: the changes of
//! its scripted history, and mutants of its library. Nothing is run but the listing of tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fewer_core::{Mapping, Snapshot, TestId, tts};
use fewer_objects::{Analysis, Given, ListedTest, NoCache, VirtualCalls, scan};
use fewer_runners::{Cancel, TestProgram, googletest};

use crate::builder::{Build, Builder, Cost, Unit};
use crate::listed::listed_test;
use crate::measure;
use crate::mutants::{mutants, sample};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cpp");
const CORE: [&str; 4] = ["number_test", "statistics_test", "style_test", "units_test"];
const PRELUDES: [(&str, &str); 2] = [
    (
        "std",
        "#include <functional>\n#include <map>\n#include <memory>\n#include <sstream>\n#include <string>\n#include <vector>\n",
    ),
    ("gtest", "#include <gtest/gtest.h>\n"),
];
const MUTANTS_PER_SOURCE: usize = 2;
const LISTING_TIMEOUT: Duration = Duration::from_secs(60);

/// A copy of the example with its history, and its build.
pub struct Example {
    source: PathBuf,
    build: Build,
}

/// The fingerprints of all tests by one way of reading, and those that run in any case.
struct State {
    snapshot: Snapshot,
    unmapped: BTreeSet<TestId>,
}

impl Example {
    /// Makes the repository, with nothing built yet. The directory is emptied first.
    pub fn open(directory: &Path, builder: Builder) -> Result<Example> {
        if directory.exists() {
            fs::remove_dir_all(directory).with_context(|| format!("cannot empty {}", directory.display()))?;
        }
        let source = directory.join("source");
        measure::child(Command::new(format!("{EXAMPLE}/history.sh")).arg(&source))?;
        let build = Build::begin(builder, &directory.join("build"), "", &PRELUDES)?;
        let example = Example { source, build };
        example.describe()?;
        Ok(example)
    }

    /// What building everything takes.
    pub fn cost(&self) -> Result<Cost> {
        self.build.cost()
    }

    /// The share of the tests that a commit of the history selects on average, per way of following virtual calls.
    pub fn history_shares(&self, readings: &[VirtualCalls]) -> Result<Vec<f64>> {
        let commits = self.git(&["rev-list", "--first-parent", "--reverse", "main"])?;
        let mut states: Vec<Vec<State>> = Vec::new();
        for commit in commits.lines() {
            self.git(&["checkout", "--quiet", commit])?;
            self.describe()?;
            self.build.build()?;
            states.push(self.states(readings)?);
        }
        ensure!(states.len() > 5, "the history has {} commits", states.len());
        let steps: Vec<Vec<f64>> = states
            .windows(2)
            .map(|pair| {
                pair[0].iter().zip(&pair[1]).map(|(before, after)| before.share_selected(after)).collect()
            })
            .collect();
        Ok(means(&steps, readings.len()))
    }

    /// The same of mutants of what is checked out, which is put back after each.
    pub fn mutant_shares(&self, readings: &[VirtualCalls]) -> Result<Vec<f64>> {
        self.build.build()?;
        let base = self.states(readings)?;
        let mut shares = Vec::new();
        for name in self.sources("src")? {
            let path = self.source.join("src").join(format!("{name}.cpp"));
            let original =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            for mutant in sample(mutants(&name, &original), MUTANTS_PER_SOURCE) {
                fs::write(&path, mutant.apply(&original)).context("cannot write a mutant")?;
                if self.build.build().is_ok() {
                    let states = self.states(readings)?;
                    shares.push(
                        base.iter()
                            .zip(&states)
                            .map(|(before, after)| before.share_selected(after))
                            .collect(),
                    );
                }
            }
            fs::write(&path, original).context("cannot undo a mutant")?;
        }
        ensure!(shares.len() > 10, "only {} mutants could be built", shares.len());
        Ok(means(&shares, readings.len()))
    }

    fn states(&self, readings: &[VirtualCalls]) -> Result<Vec<State>> {
        readings.iter().map(|&virtual_calls| State::of_build(&self.build.directory, virtual_calls)).collect()
    }

    /// The build of what is checked out.
    fn describe(&self) -> Result<()> {
        let unit = |part: &str, name: &str, prelude| Unit {
            source: format!("../source/{part}/{name}.cpp"),
            object: format!("{name}.o"),
            prelude,
        };
        let (library, tests) = (self.sources("src")?, self.sources("tests")?);
        let mut units: Vec<Unit> = library.iter().map(|name| unit("src", name, "std")).collect();
        units.extend(tests.iter().map(|name| unit("tests", name, "gtest")));
        let objects = |names: &[&String]| names.iter().map(|name| format!(" {name}.o")).collect::<String>();
        let (core, language): (Vec<&String>, Vec<&String>) =
            tests.iter().partition(|name| CORE.contains(&name.as_str()));
        let more = format!(
            "build libabacus.a: archive{}\nbuild core_test: link{} libabacus.a\nbuild language_test: link{} libabacus.a\n",
            objects(&library.iter().collect::<Vec<_>>()),
            objects(&core),
            objects(&language)
        );
        self.build.describe("-I../source/include -ffile-prefix-map=../source=.", &units, &more)
    }

    fn sources(&self, part: &str) -> Result<BTreeSet<String>> {
        let entries = fs::read_dir(self.source.join(part)).context("cannot read the example")?;
        let mut names = BTreeSet::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "cpp") {
                names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        Ok(names)
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new("git");
        let (_, output) = measure::child_output(command.current_dir(&self.source).args(arguments))?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}

impl State {
    fn of_build(directory: &Path, virtual_calls: VirtualCalls) -> Result<State> {
        let tree = scan(directory, &NoCache)?;
        let analysis = Analysis::of_build(directory, &tree, Given { virtual_calls, ..Given::default() });
        let mut tests = Vec::new();
        for target in analysis.targets().iter().filter(|target| target.has_googletest) {
            let program = TestProgram::new(&target.name, directory.join(&target.name), directory);
            // A mutant may keep a program from listing its tests: then all of them are selected.
            let listed = googletest::list(&program, LISTING_TIMEOUT, &Cancel::new()).unwrap_or_default();
            let listed: Vec<ListedTest> = listed.iter().map(listed_test).collect();
            tests.extend(analysis.googletest_tests(target, &listed));
        }
        let unmapped =
            tests.iter().filter(|test| test.mapping != Mapping::Mapped).map(|test| test.id.clone()).collect();
        let (graph, fingerprints) = analysis.into_graph(tests);
        Ok(State { snapshot: fingerprints.snapshot(&graph), unmapped })
    }

    /// Which share of the tests a change from this state to a later one selects.
    fn share_selected(&self, later: &State) -> f64 {
        let mut selected: BTreeSet<TestId> = tts(&self.snapshot, &later.snapshot).into_iter().collect();
        selected.extend(later.unmapped.iter().cloned());
        selected.extend(self.snapshot.keys().filter(|test| !later.snapshot.contains_key(test)).cloned());
        let tests = self.snapshot.len().max(later.snapshot.len());
        (selected.len() as f64 / tests.max(1) as f64).min(1.0)
    }
}

fn means(rows: &[Vec<f64>], columns: usize) -> Vec<f64> {
    (0..columns).map(|column| rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64).collect()
}
