//! What fewer makes of a build directory, and the selection between two such states. Expectations and oracles
//! are told elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fewer_core::{ChangeMap, Digest, Graph, Mapping, Snapshot, TestId, tts};
use fewer_objects::{Analysis, BuildTree, Given, ListedTest, NoCache, Target, scan, scan_again};
use fewer_runners::{Cancel, TestProgram, googletest};

use crate::listed::listed_test;
use crate::memory_cache::MemoryCache;

const LISTING_TIMEOUT: Duration = Duration::from_secs(60);

/// What a test program was found to hold.
struct Program {
    startup: Digest,
    /// `None` if the program cannot list its tests.
    listing: Option<Vec<ListedTest>>,
}

/// A built state as fewer sees it.
#[derive(Default)]
pub struct State {
    programs: BTreeMap<String, Program>,
    graph: Graph,
    pub snapshot: Snapshot,
    unmapped: BTreeSet<String>,
    /// Programs whose list of tests changed although nothing that `main` and the initialisers reach did.
    pub surprises: Vec<String>,
}

impl State {
    /// Analyses a build directory. A program is listed again only if its startup fingerprint is new.
    pub fn of_build(build_directory: &Path, previous: Option<&State>) -> Result<State, String> {
        let tree = scan(build_directory, &NoCache).map_err(|error| error.to_string())?;
        Ok(State::of_tree(build_directory, &tree, previous))
    }

    /// The same on what earlier analyses kept, as far as it still holds.
    pub fn of_build_again(
        kept: &Arc<MemoryCache>,
        build_directory: &Path,
        previous: Option<&State>,
    ) -> Result<State, String> {
        let tree = scan_again(build_directory, kept.clone()).map_err(|error| error.to_string())?;
        Ok(State::of_tree(build_directory, &tree, previous))
    }

    fn of_tree(build_directory: &Path, tree: &BuildTree, previous: Option<&State>) -> State {
        let analysis = Analysis::of_build(build_directory, tree, Given::default());
        let mut state = State::default();
        let mut tests = Vec::new();
        for target in analysis.targets().iter().filter(|target| target.has_googletest) {
            let program = state.program(build_directory, &analysis, target, previous);
            let listing = program.listing.as_deref().unwrap_or(&[]);
            tests.extend(analysis.googletest_tests(target, listing));
            state.programs.insert(target.name.clone(), program);
        }
        for test in &tests {
            match &test.mapping {
                Mapping::Mapped => {}
                Mapping::Unmapped { cause: _ } => {
                    state.unmapped.insert(test.id.to_string());
                }
            }
        }
        let (graph, fingerprints) = analysis.into_graph(tests);
        state.snapshot = fingerprints.snapshot(&graph);
        state.graph = graph;
        state
    }

    fn program(
        &mut self,
        build_directory: &Path,
        analysis: &Analysis<'_>,
        target: &Target,
        previous: Option<&State>,
    ) -> Program {
        let startup = analysis.startup_fingerprint(target);
        let listing = list(build_directory, &target.name);
        match previous.and_then(|state| state.programs.get(&target.name)) {
            Some(known) if known.startup == startup => {
                if known.listing != listing {
                    self.surprises.push(target.name.clone());
                }
                Program { startup, listing: known.listing.clone() }
            }
            Some(_) | None => Program { startup, listing },
        }
    }

    /// What fewer says to somebody who asks why it selected a test.
    pub fn why(&self, before: &State, id: &str) -> String {
        let changes = ChangeMap::between(&before.graph, &self.graph);
        let explanation = id.parse::<TestId>().ok().and_then(|test| changes.explain(&test));
        explanation.map_or("no explanation".to_string(), |why| {
            let changed: Vec<String> = why.changed.iter().take(4).map(ToString::to_string).collect();
            format!("{}: {}", why.path.join(" -> "), changed.join("; "))
        })
    }

    /// Whether the test exists, here or (if its program can no longer be asked) in the state before.
    pub fn knows(&self, before: &State, id: &str) -> bool {
        let has = |state: &State| state.snapshot.keys().any(|known| known.to_string() == id);
        has(self) || has(before)
    }

    /// The ids of the tests that a change to this state selects: new ones, those whose fingerprint differs, those
    /// that map to nothing, and all of a program that can no longer list its tests.
    pub fn selected_since(&self, before: &State) -> BTreeSet<String> {
        let mut selected: BTreeSet<String> = self.unmapped.clone();
        selected.extend(tts(&before.snapshot, &self.snapshot).iter().map(ToString::to_string));
        let is_broken =
            |target: &str| self.programs.get(target).is_some_and(|program| program.listing.is_none());
        selected.extend(before.snapshot.keys().filter(|id| is_broken(&id.target)).map(ToString::to_string));
        selected
    }
}

fn list(build_directory: &Path, target: &str) -> Option<Vec<ListedTest>> {
    let program = TestProgram::new(target, build_directory.join(target), build_directory);
    let listed = googletest::list(&program, LISTING_TIMEOUT, &Cancel::new()).ok()?;
    Some(listed.iter().map(listed_test).collect())
}
