//! What the store holds along a history: of every commit its newest state without local changes that was built
//! from the commit's own sources, as fingerprints and as a graph.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use fewer_core::history::{
    ChangedPaths, CommitIndex, GraphSource, Inputs, RecordedGraph, Records, UnitsBuilder,
};
use fewer_core::{Digest, Snapshot, TestId, TestNode};
use fewer_git::{History, HistoryError, Repository};
use fewer_objects::Analysis;
use fewer_store::{StateId, Store};

use crate::data_files;
use crate::names::split;
use crate::provenance::{PROVENANCE_KIND, Provenance};
use crate::ranking::LEFT_OUT_KIND;
use crate::record::{has_java, provenance_of, rebuild};

/// The recorded commits of a history.
pub struct RecordedCommits<'a> {
    store: &'a Store,
    repository: &'a Repository,
    history: &'a History,
    /// Whether a state counts only if a run on it came to its end and left out no test that may have changed.
    only_whole: bool,
    states: RefCell<HashMap<CommitIndex, Option<RecordedCommit>>>,
    graphs: HashMap<CommitIndex, Option<Arc<RecordedGraph>>>,
    /// How tests were started, in every state whose graph was asked for.
    circumstances: HashMap<TestId, BTreeSet<Option<Digest>>>,
}

#[derive(Clone)]
struct RecordedCommit {
    id: StateId,
    snapshot: Arc<Snapshot>,
}

impl<'a> RecordedCommits<'a> {
    pub fn new(store: &'a Store, repository: &'a Repository, history: &'a History) -> RecordedCommits<'a> {
        RecordedCommits {
            store,
            repository,
            history,
            only_whole: false,
            states: RefCell::default(),
            graphs: HashMap::new(),
            circumstances: HashMap::new(),
        }
    }

    /// For a strategy that takes a recorded commit for tested, whatever outcomes there are: states whose run left
    /// tests out, or never came to its end, do not count.
    pub fn tested(store: &'a Store, repository: &'a Repository, history: &'a History) -> RecordedCommits<'a> {
        RecordedCommits { only_whole: true, ..RecordedCommits::new(store, repository, history) }
    }

    /// Every graph that was asked for.
    pub fn graphs(&self) -> impl Iterator<Item = &RecordedGraph> {
        self.graphs.values().flatten().map(Arc::as_ref)
    }

    /// Tests that always ran at a commit, with the cause.
    pub fn unmapped(&self, commit: CommitIndex) -> Vec<(TestId, String)> {
        let unmapped = |state: RecordedCommit| {
            let provenance = provenance_of(self.store, state.id)?;
            Some(provenance.unmapped().map(|(test, cause)| (test, cause.to_string())).collect())
        };
        self.state(commit).and_then(unmapped).unwrap_or_default()
    }

    /// How many objects of a commit there are, and of how many it was not written down what they are compiled from.
    pub fn objects(&self, commit: CommitIndex) -> (usize, usize) {
        let provenance = self.state(commit).and_then(|state| provenance_of(self.store, state.id));
        let count = |provenance: Provenance| {
            let unknown = provenance.objects().filter(|object| provenance.inputs(object).is_none());
            (provenance.objects().count(), unknown.count())
        };
        provenance.map(count).unwrap_or_default()
    }

    /// How a test was started in all states whose graph was asked for; `Err` where they do not agree.
    pub fn circumstances(&self, test: &TestId) -> Result<Option<Digest>, Disagreement> {
        let Some(seen) = self.circumstances.get(test) else { return Ok(None) };
        match seen.len() {
            0 | 1 => Ok(seen.first().copied().flatten()),
            _ => Err(Disagreement),
        }
    }

    fn state(&self, commit: CommitIndex) -> Option<RecordedCommit> {
        self.states.borrow_mut().entry(commit).or_insert_with(|| self.read(commit)).clone()
    }

    fn read(&self, commit: CommitIndex) -> Option<RecordedCommit> {
        let commit = self.history.hash(commit).to_string();
        self.store.clean_states_of_commit(&commit).ok()?.into_iter().find_map(|info| {
            let state = self.store.state(info.id).ok()?;
            let has = |kind: &str| state.manifest.iter().any(|entry| entry.kind == kind);
            let is_whole = || !has(LEFT_OUT_KIND) && self.store.has_completed_run(info.id).unwrap_or(false);
            let counts = has(PROVENANCE_KIND) && (!self.only_whole || is_whole());
            counts.then(|| RecordedCommit { id: info.id, snapshot: Arc::new(state.snapshot) })
        })
    }

    fn rebuild(&mut self, commit: CommitIndex) -> Option<RecordedGraph> {
        let state = self.state(commit)?;
        // What a class is compiled from is not written down, so no merge of such states can be foretold.
        if has_java(self.store, state.id) {
            return None;
        }
        let (graph, started) = rebuild(self.store, state.id, |analysis, tests, provenance| {
            let provenance = provenance?;
            let started = provenance.circumstances();
            Some((recorded_graph(analysis, tests, &provenance), started))
        })??;
        for test in graph.graph().tests() {
            let seen = self.circumstances.entry(test.id.clone()).or_default();
            seen.insert(started.get(&test.id).copied());
        }
        Some(graph)
    }
}

/// A test is started in one way here and in another there.
#[derive(Debug)]
pub struct Disagreement;

impl Records for RecordedCommits<'_> {
    fn snapshot(&self, commit: CommitIndex) -> Option<Arc<Snapshot>> {
        self.state(commit).map(|state| state.snapshot)
    }
}

impl GraphSource for RecordedCommits<'_> {
    type Error = HistoryError;

    fn graph(&mut self, commit: CommitIndex) -> Result<Option<Arc<RecordedGraph>>, HistoryError> {
        if let Some(known) = self.graphs.get(&commit) {
            return Ok(known.clone());
        }
        let graph = self.rebuild(commit).map(Arc::new);
        self.graphs.insert(commit, graph.clone());
        Ok(graph)
    }

    fn changed_paths(&mut self, from: CommitIndex, to: CommitIndex) -> Result<ChangedPaths, HistoryError> {
        let pair = (self.history.hash(from), self.history.hash(to));
        let mut changed = ChangedPaths::default();
        for changes in self.repository.changes(&[pair])? {
            for change in changes? {
                let path = change.path.to_string_lossy().into_owned();
                match (change.old, change.new) {
                    (None, _) => changed.added.insert(path),
                    (Some(_), Some(_)) => changed.modified.insert(path),
                    (Some(_), None) => changed.deleted.insert(path),
                };
            }
        }
        Ok(changed)
    }
}

/// The graph of a state with what its elements are compiled from.
fn recorded_graph(analysis: Analysis<'_>, tests: Vec<TestNode>, provenance: &Provenance) -> RecordedGraph {
    let mut units = UnitsBuilder::new();
    provenance.common_inputs().for_each(|path| units.common_input(path));
    for object in provenance.objects() {
        let inputs = match provenance.inputs(object) {
            Some(paths) => Inputs::Known(paths.into_iter().map(|path| units.path(path)).collect()),
            None => Inputs::Unknown,
        };
        let unit = units.unit(object, inputs);
        for element in analysis.elements_of_objects(|name| name == object) {
            // Made by the compiler for every object alike, from no file.
            if !split(analysis.graph().name(element)).1.starts_with("DW.ref.") {
                units.member(element, unit);
            }
        }
    }
    let (graph, _) = analysis.into_graph(tests);
    for element in graph.elements() {
        let name = graph.name(element);
        if let Some(path) = data_files::path_of_element(name) {
            let path = units.path(&provenance.below_top(path));
            let unit = units.unit(name, Inputs::Known(vec![path]));
            units.member(element, unit);
        }
    }
    RecordedGraph::new(graph, units.build())
}
