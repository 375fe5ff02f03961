//! A project in memory with a history: files of elements, edits that merge as lines of text do, and what a
//! compiler would make of every state. The oracle of the history tests; it shares no rule with the code tested.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use fewer_core::history::*;
use fewer_core::{
    CommitGraph, CommitGraphBuilder, CommitIndex, Digest, DigestBuilder, Domain, Dominators, ElementId,
    Fingerprints, GraphBuilder, Mapping, Snapshot, TestId, TestNode,
};

const CONTENT: Domain = Domain::new("project.content");
const OUTCOME: Domain = Domain::new("project.outcome");

/// More steps than any path in a project has: the same number for all states, so that outcomes compare.
const ROUNDS: usize = 40;

/// What an edit of an element does besides changing it.
#[derive(Clone, Debug)]
pub enum Edit {
    Plain,
    /// Starts or stops calling another element.
    Toggle(usize),
    /// Of a header's element: calls that can be overloaded now mean the overload, wherever it is included.
    Overload,
    /// Calls the first element, or the second where the header has an overload.
    CallOverloaded {
        header: usize,
        plain: usize,
        overload: usize,
    },
}

#[derive(Clone, Debug)]
pub struct Element {
    pub symbol: String,
    pub file: usize,
    pub calls: BTreeSet<usize>,
    pub is_test: bool,
}

/// A source file, or a header that sources include.
#[derive(Clone, Debug)]
pub struct File {
    pub is_header: bool,
    pub includes: Vec<usize>,
}

/// The tree of one commit: the elements there are with the edits they had, and where each file lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    pub elements: BTreeMap<usize, BTreeSet<usize>>,
    pub paths: Vec<String>,
}

/// Facts about elements, files and edits, and the commits made of them.
#[derive(Clone, Debug, Default)]
pub struct Project {
    pub elements: Vec<Element>,
    pub files: Vec<File>,
    pub edits: Vec<Edit>,
    pub parents: Vec<Vec<CommitIndex>>,
    pub states: Vec<State>,
    pub is_recorded: Vec<bool>,
    snapshots: Vec<Arc<Snapshot>>,
    outcomes: Vec<BTreeMap<TestId, Digest>>,
}

impl Project {
    pub fn file(&mut self, is_header: bool, includes: &[usize]) -> usize {
        self.files.push(File { is_header, includes: includes.to_vec() });
        self.files.len() - 1
    }

    pub fn element(&mut self, symbol: &str, file: usize, calls: &[usize]) -> usize {
        let calls = calls.iter().copied().collect();
        self.elements.push(Element { symbol: symbol.to_string(), file, calls, is_test: false });
        self.elements.len() - 1
    }

    pub fn test(&mut self, symbol: &str, file: usize, calls: &[usize]) -> usize {
        let element = self.element(symbol, file, calls);
        self.elements[element].is_test = true;
        element
    }

    pub fn edit(&mut self, edit: Edit) -> usize {
        self.edits.push(edit);
        self.edits.len() - 1
    }

    /// The state with all elements there are so far, unedited.
    pub fn initial(&self) -> State {
        State {
            elements: (0..self.elements.len()).map(|element| (element, BTreeSet::new())).collect(),
            paths: (0..self.files.len()).map(|file| format!("src/f{file}.cpp")).collect(),
        }
    }

    pub fn commit(&mut self, parents: &[CommitIndex], state: State) -> CommitIndex {
        self.parents.push(parents.to_vec());
        self.snapshots.push(Arc::new(self.snapshot(&state)));
        self.outcomes.push(self.outcomes(&state));
        self.states.push(state);
        self.is_recorded.push(true);
        CommitIndex(self.states.len() as u32 - 1)
    }

    /// A commit that edits one element of its parent.
    pub fn change(&mut self, parent: CommitIndex, element: usize, edit: Edit) -> CommitIndex {
        let edit = self.edit(edit);
        let mut state = self.states[parent.index()].clone();
        state.elements.get_mut(&element).expect("an element of the parent").insert(edit);
        self.commit(&[parent], state)
    }

    pub fn graph(&self) -> CommitGraph {
        let mut builder = CommitGraphBuilder::new();
        for parents in &self.parents {
            builder.commit(parents);
        }
        builder.build()
    }

    /// The tree that git would make of a merge; `None` for a conflict or unrelated histories.
    pub fn merged(&self, commits: &[CommitIndex]) -> Option<State> {
        let graph = self.graph();
        let mut merged = self.states[commits[0].index()].clone();
        for index in 1..commits.len() {
            let bases = graph.merge_bases_of(commits[index], &commits[..index]);
            if bases.is_empty() {
                return None;
            }
            let base = self.merged(&bases)?;
            merged = self.three_way(&base, &merged, &self.states[commits[index].index()])?;
        }
        Some(merged)
    }

    pub fn cherry_picked(&self, onto: CommitIndex, picked: CommitIndex) -> Option<State> {
        let state = |commit: CommitIndex| &self.states[commit.index()];
        self.three_way(state(self.parents[picked.index()][0]), state(onto), state(picked))
    }

    pub fn reverted(&self, onto: CommitIndex, reverted: CommitIndex) -> Option<State> {
        let state = |commit: CommitIndex| &self.states[commit.index()];
        self.three_way(state(reverted), state(onto), state(self.parents[reverted.index()][0]))
    }

    fn three_way(&self, base: &State, ours: &State, theirs: &State) -> Option<State> {
        for file in 0..self.files.len() {
            let text = |state: &State| self.text(state, file);
            let (b, o, t) = (text(base), text(ours), text(theirs));
            let is_deleted = |side: &Option<FileText>| b.is_some() && side.is_none();
            if (is_deleted(&o) && t.is_some() && t != b) || (is_deleted(&t) && o.is_some() && o != b) {
                return None;
            }
        }
        let mut elements = BTreeMap::new();
        let all: BTreeSet<&usize> =
            [base, ours, theirs].iter().flat_map(|state| state.elements.keys()).collect();
        for &element in all {
            let edits = |state: &State| state.elements.get(&element).cloned();
            let (b, o, t) = (edits(base), edits(ours), edits(theirs));
            let merged = match (&b, &o, &t) {
                (_, Some(o), Some(t)) => {
                    let b = b.unwrap_or_default();
                    Some(
                        o.union(t)
                            .filter(|e| b.contains(e) <= (o.contains(e) && t.contains(e)))
                            .copied()
                            .collect(),
                    )
                }
                (None, Some(side), None) | (None, None, Some(side)) => Some(side.clone()),
                (Some(b), Some(side), None) | (Some(b), None, Some(side)) => {
                    if side != b {
                        return None;
                    }
                    None
                }
                (_, None, None) => None,
            };
            elements.extend(merged.map(|edits| (element, edits)));
        }
        let mut paths = Vec::new();
        for file in 0..self.files.len() {
            let (b, o, t) = (base.path(file), ours.path(file), theirs.path(file));
            paths.push(match (o == b, t == b, o == t) {
                (_, true, _) | (_, _, true) => o,
                (true, false, false) => t,
                (false, false, false) => return None,
            });
        }
        Some(State { elements, paths })
    }

    /// What stands in a file: the headers it includes and its elements with their edits.
    fn text(&self, state: &State, file: usize) -> Option<FileText> {
        let elements: BTreeMap<usize, BTreeSet<usize>> = state
            .elements
            .iter()
            .filter(|(element, _)| self.elements[**element].file == file)
            .map(|(element, edits)| (*element, edits.clone()))
            .collect();
        let includes = self.files[file].includes.iter().map(|&header| state.path(header)).collect();
        (!elements.is_empty()).then_some((includes, elements))
    }

    pub fn changed_paths(&self, from: CommitIndex, to: CommitIndex) -> ChangedPaths {
        let tree = |commit: CommitIndex| -> BTreeMap<String, FileText> {
            let state = &self.states[commit.index()];
            let files = 0..self.files.len();
            files.filter_map(|file| Some((state.path(file), self.text(state, file)?))).collect()
        };
        let (old, new) = (tree(from), tree(to));
        let mut changed = ChangedPaths::default();
        for (path, text) in &new {
            match old.get(path) {
                None => changed.added.insert(path.clone()),
                Some(before) if before != text => changed.modified.insert(path.clone()),
                Some(_) => false,
            };
        }
        changed.deleted = old.keys().filter(|path| !new.contains_key(*path)).cloned().collect();
        changed
    }

    /// What an element calls, as a compiler sees it in a state.
    fn calls(&self, state: &State, element: usize) -> BTreeSet<usize> {
        let file = self.elements[element].file;
        let sees = |header| file == header || self.files[file].includes.contains(&header);
        let mut calls = self.elements[element].calls.clone();
        for &edit in &state.elements[&element] {
            match self.edits[edit] {
                Edit::Plain | Edit::Overload => {}
                Edit::Toggle(callee) => {
                    if !calls.remove(&callee) {
                        calls.insert(callee);
                    }
                }
                Edit::CallOverloaded { header, plain, overload } => {
                    let is_overloaded = sees(header)
                        && state.elements.iter().any(|(other, edits)| {
                            self.elements[*other].file == header
                                && edits.iter().any(|edit| matches!(self.edits[*edit], Edit::Overload))
                        });
                    calls.insert(if is_overloaded { overload } else { plain });
                }
            }
        }
        calls
    }

    /// Whether everything that is called exists; else there is nothing to run.
    pub fn links(&self, state: &State) -> bool {
        let calls = |&element: &usize| self.calls(state, element);
        state.elements.keys().flat_map(calls).all(|called| state.elements.contains_key(&called))
    }

    fn content(&self, state: &State, element: usize) -> Digest {
        let mut builder = DigestBuilder::new(CONTENT);
        builder.text(&self.elements[element].symbol);
        for &edit in &state.elements[&element] {
            builder.number(edit as u64);
        }
        for called in self.calls(state, element) {
            builder.text(&self.elements[called].symbol);
        }
        builder.finish()
    }

    /// What an analyser records of a state. `turned` gives the elements in another order, which must not matter.
    pub fn analysed(&self, state: &State, turned: bool) -> RecordedGraph {
        let mut order: Vec<usize> = state.elements.keys().copied().collect();
        if turned {
            order.reverse();
        }
        let mut graph = GraphBuilder::new();
        let mut ids: BTreeMap<usize, ElementId> = BTreeMap::new();
        for &element in &order {
            let Element { symbol, file, .. } = &self.elements[element];
            let name = match self.files[*file].is_header {
                true => symbol.clone(),
                false => format!("{}.o:{symbol}", state.path(*file)),
            };
            ids.insert(element, graph.element(&name, self.content(state, element)));
        }
        for &element in &order {
            for called in self.calls(state, element) {
                if let Some(&target) = ids.get(&called) {
                    graph.reference(ids[&element], target);
                }
            }
            if self.elements[element].is_test {
                graph.test(TestNode {
                    id: self.test_id(element),
                    roots: vec![ids[&element]],
                    mapping: Mapping::Mapped,
                    disabled: false,
                });
            }
        }
        RecordedGraph::new(graph.build(), self.units(state, &ids))
    }

    fn units(&self, state: &State, ids: &BTreeMap<usize, ElementId>) -> Units {
        let mut builder = UnitsBuilder::new();
        for (file, facts) in self.files.iter().enumerate() {
            if facts.is_header || self.text(state, file).is_none() {
                continue;
            }
            let files: Vec<usize> = [file].into_iter().chain(facts.includes.iter().copied()).collect();
            let inputs = files.iter().map(|&input| builder.path(&state.path(input))).collect();
            let unit = builder.unit(&format!("{}.o", state.path(file)), Inputs::Known(inputs));
            for (element, &id) in ids {
                if files.contains(&self.elements[*element].file) {
                    builder.member(id, unit);
                }
            }
        }
        builder.build()
    }

    pub fn test_id(&self, element: usize) -> TestId {
        TestId::new("t", &self.elements[element].symbol)
    }

    pub fn snapshot(&self, state: &State) -> Snapshot {
        let analysed = self.analysed(state, false);
        Fingerprints::compute(analysed.graph()).snapshot(analysed.graph())
    }

    /// The outcome of every test: some function of all that it reaches, found without fingerprints.
    pub fn outcomes(&self, state: &State) -> BTreeMap<TestId, Digest> {
        assert!(state.elements.len() < ROUNDS, "every path is followed to its end");
        let facts: Vec<(usize, Digest, BTreeSet<usize>)> = state
            .elements
            .keys()
            .map(|&element| (element, self.content(state, element), self.calls(state, element)))
            .collect();
        let mut digests: BTreeMap<usize, Digest> =
            facts.iter().map(|(element, content, _)| (*element, *content)).collect();
        for _ in 0..ROUNDS {
            let next = facts.iter().map(|(element, content, called)| {
                let mut below = called.iter().filter_map(|called| digests.get(called).copied()).collect();
                (*element, DigestBuilder::new(OUTCOME).digest(*content).set(&mut below).finish())
            });
            digests = next.collect();
        }
        let tests = digests.into_iter().filter(|(element, _)| self.elements[*element].is_test);
        tests.map(|(element, digest)| (self.test_id(element), digest)).collect()
    }

    pub fn outcomes_at(&self, commit: CommitIndex) -> &BTreeMap<TestId, Digest> {
        &self.outcomes[commit.index()]
    }

    pub fn records(&self) -> BTreeMap<CommitIndex, Arc<Snapshot>> {
        let commits = (0..self.states.len()).filter(|&commit| self.is_recorded[commit]);
        commits.map(|commit| (CommitIndex(commit as u32), self.snapshots[commit].clone())).collect()
    }

    /// The outcomes recorded under test and fingerprint: every test of every recorded commit has one.
    pub fn recorded_outcomes(&self) -> BTreeMap<(TestId, Digest), Digest> {
        let mut recorded = BTreeMap::new();
        for (commit, snapshot) in self.records() {
            for (test, fingerprint) in snapshot.iter() {
                recorded.insert((test.clone(), *fingerprint), self.outcomes_at(commit)[test]);
            }
        }
        recorded
    }

    pub fn with_history<T>(
        &self,
        ask: impl FnOnce(&mut History<'_, BTreeMap<CommitIndex, Arc<Snapshot>>>) -> T,
    ) -> T {
        let (graph, records) = (self.graph(), self.records());
        let dominators = Dominators::of(&graph);
        ask(&mut History::new(&graph, &dominators, &records))
    }

    pub fn predict(&self, merged: &RecordedGraph) -> Prediction {
        let recorded = self.recorded_outcomes();
        predict(merged, |test, fingerprint| recorded.contains_key(&(test.clone(), fingerprint)))
    }
}

/// The paths included, and the elements with their edits.
type FileText = (Vec<String>, BTreeMap<usize, BTreeSet<usize>>);

impl State {
    /// A file that the state does not know yet lies where it will be added.
    fn path(&self, file: usize) -> String {
        self.paths.get(file).cloned().unwrap_or_else(|| format!("src/f{file}.cpp"))
    }
}

/// The recorded graphs of a project, with or without the units.
pub struct ProjectSource<'p> {
    pub project: &'p Project,
    pub has_units: bool,
}

impl GraphSource for ProjectSource<'_> {
    type Error = Infallible;

    fn graph(&mut self, commit: CommitIndex) -> Result<Option<Arc<RecordedGraph>>, Infallible> {
        let Project { states, is_recorded, .. } = self.project;
        let analysed = self.project.analysed(&states[commit.index()], commit.0 % 2 == 1);
        let graph = match self.has_units {
            true => analysed,
            false => RecordedGraph::new(analysed.graph().clone(), Units::default()),
        };
        Ok(is_recorded[commit.index()].then(|| Arc::new(graph)))
    }

    fn changed_paths(&mut self, from: CommitIndex, to: CommitIndex) -> Result<ChangedPaths, Infallible> {
        Ok(self.project.changed_paths(from, to))
    }
}

/// A small generator of numbers, so that a failing history is named by its seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }
}
