//! Safety by brute force: random histories in which every strategy is asked at every commit, and what it leaves
//! out is compared with what really happens. A failure names the seed of its history.

mod history_project;

use std::collections::{BTreeMap, BTreeSet};

use fewer_core::history::*;
use fewer_core::{CommitIndex, Digest, Snapshot, TestId};
use history_project::{Dice, Edit, Project, ProjectSource, State};

const HISTORIES: u64 = 2_000;

/// What may happen in a random history.
#[derive(Clone, Copy)]
struct Habits {
    /// Edits may change what elements call, bring, delete and move elements.
    coverage_changes: bool,
    /// Per cent of the commits that are not recorded.
    unrecorded: usize,
}

/// How a commit was made.
#[derive(Clone, Debug)]
enum Origin {
    Commit,
    Merge { is_automatic: bool },
    CherryPick { picked: CommitIndex },
    Revert { reverted: CommitIndex },
}

/// What happened over all histories, so that no check passes for want of cases.
#[derive(Default, Debug)]
struct Tally {
    automatic_merges: usize,
    edited_merges: usize,
    octopus_merges: usize,
    criss_cross_merges: usize,
    cherry_picks: usize,
    reverts: usize,
    /// Tests decided and left out, by strategy.
    decided: BTreeMap<&'static str, (usize, usize)>,
    everything: BTreeMap<&'static str, usize>,
    violations: Vec<String>,
}

/// A history that grows by random commands.
struct Growth {
    project: Project,
    dice: Dice,
    habits: Habits,
}

impl Growth {
    fn new(seed: u64, habits: Habits) -> Growth {
        let mut dice = Dice::new(seed);
        let mut project = Project::default();
        let headers = [project.file(true, &[]), project.file(true, &[])];
        // The first source includes both headers, so that what they hold is compiled somewhere.
        let mut sources = vec![project.file(false, &headers)];
        for _ in 0..4 {
            let includes: Vec<usize> = headers.into_iter().filter(|_| dice.percent(30)).collect();
            sources.push(project.file(false, &includes));
        }
        let count = 7;
        for element in 0..count {
            // Both headers define `inline0`: one name, two elements.
            let (symbol, file) = match element {
                0 | 1 => ("inline0".to_string(), headers[element]),
                2 => ("first".to_string(), sources[0]),
                _ => (format!("m{element}"), sources[1 + element % 4]),
            };
            let calls: Vec<usize> =
                (0..count).filter(|&called| called != element && dice.percent(18)).collect();
            project.element(&symbol, file, &calls);
        }
        for test in 0..4 {
            let calls = [dice.below(count), dice.below(count)];
            let file = match dice.percent(50) {
                true => project.file(false, &[]),
                false => sources[dice.below(sources.len())],
            };
            project.test(&format!("t{test}"), file, &calls);
        }
        let initial = project.initial();
        project.commit(&[], initial);
        Growth { project, dice, habits }
    }

    fn pick(&mut self) -> CommitIndex {
        // Mostly recent commits, so that branches grow longer than one commit.
        let count = self.project.states.len();
        let reach = if self.dice.percent(60) { count.min(3) } else { count };
        CommitIndex((count - 1 - self.dice.below(reach)) as u32)
    }

    /// The next commit: parents, state, and how it came about.
    fn step(&mut self) -> Option<(Vec<CommitIndex>, State, Origin)> {
        let onto = self.pick();
        match self.dice.below(10) {
            0..=3 => {
                let state = self.edited(self.project.states[onto.index()].clone());
                Some((vec![onto], state, Origin::Commit))
            }
            4..=6 => self.merge(onto),
            7 => {
                let picked = self.single_parent_commit(onto, false)?;
                let state = self.project.cherry_picked(onto, picked)?;
                Some((vec![onto], state, Origin::CherryPick { picked }))
            }
            _ => {
                let reverted = self.single_parent_commit(onto, true)?;
                let state = self.project.reverted(onto, reverted)?;
                Some((vec![onto], state, Origin::Revert { reverted }))
            }
        }
    }

    fn merge(&mut self, onto: CommitIndex) -> Option<(Vec<CommitIndex>, State, Origin)> {
        let graph = self.project.graph();
        let mut parents = vec![onto];
        let wanted = if self.dice.percent(25) { 3 } else { 2 };
        for _ in 0..6 {
            let other = self.pick();
            let is_new = |&parent: &CommitIndex| {
                !graph.is_ancestor(parent, other) && !graph.is_ancestor(other, parent)
            };
            if parents.len() < wanted && parents.iter().all(is_new) {
                parents.push(other);
            }
        }
        if parents.len() < 2 {
            return None;
        }
        let state = self.project.merged(&parents)?;
        let is_automatic = self.dice.percent(75);
        let state = if is_automatic { state } else { self.edited(state) };
        Some((parents, state, Origin::Merge { is_automatic }))
    }

    fn single_parent_commit(&mut self, onto: CommitIndex, in_ancestry: bool) -> Option<CommitIndex> {
        let graph = self.project.graph();
        let candidates: Vec<CommitIndex> = graph
            .commits()
            .filter(|&commit| graph.parents(commit).len() == 1)
            .filter(|&commit| graph.is_ancestor(commit, onto) == in_ancestry)
            .collect();
        (!candidates.is_empty()).then(|| candidates[self.dice.below(candidates.len())])
    }

    /// One or two edits by hand.
    fn edited(&mut self, mut state: State) -> State {
        for _ in 0..1 + self.dice.below(2) {
            let present: Vec<usize> = state.elements.keys().copied().collect();
            let element = present[self.dice.below(present.len())];
            let other = present[self.dice.below(present.len())];
            let kind = if self.habits.coverage_changes { self.dice.below(12) } else { 0 };
            match kind {
                0..=2 => self.edit(&mut state, element, Edit::Plain),
                3..=5 => self.edit(&mut state, element, Edit::Toggle(other)),
                6 => {
                    // Elements 0 and 1 are those of the headers, in files 0 and 1.
                    let header = self.dice.below(2);
                    if state.elements.contains_key(&header) {
                        self.edit(&mut state, header, Edit::Overload);
                    }
                }
                7 => {
                    let (header, overload) = (self.dice.below(2), present[self.dice.below(present.len())]);
                    self.edit(&mut state, element, Edit::CallOverloaded { header, plain: other, overload });
                }
                8 => self.add(&mut state, other),
                9 => {
                    // The elements that keep the first source and the headers compiled stay.
                    if element > 2 {
                        state.elements.remove(&element);
                    }
                }
                10 => {
                    let file = self.project.elements[element].file;
                    state.paths[file] = format!("moved/{file}_{}.cpp", self.project.states.len());
                }
                _ => self.edit(&mut state, other, Edit::Plain),
            }
        }
        state
    }

    fn edit(&mut self, state: &mut State, element: usize, edit: Edit) {
        let edit = self.project.edit(edit);
        state.elements.get_mut(&element).expect("a present element").insert(edit);
    }

    /// A new function or test, in an old or a new file.
    fn add(&mut self, state: &mut State, called: usize) {
        let number = self.project.elements.len();
        let file = match self.dice.percent(50) {
            true => self.project.file(false, &[]),
            false => 2 + self.dice.below(self.project.files.len() - 2),
        };
        let added = match self.dice.percent(50) {
            true => self.project.test(&format!("t{number}"), file, &[called]),
            false => self.project.element(&format!("m{number}"), file, &[called]),
        };
        while state.paths.len() < self.project.files.len() {
            state.paths.push(format!("src/f{}.cpp", state.paths.len()));
        }
        state.elements.insert(added, BTreeSet::new());
    }
}

/// What is known when a commit has just been made.
struct Judge<'j> {
    project: &'j Project,
    parents: &'j [CommitIndex],
    outcomes: BTreeMap<TestId, Digest>,
    recorded: BTreeMap<(TestId, Digest), Digest>,
    context: String,
}

impl Judge<'_> {
    /// Every test of the head is decided, and what is left out has the outcome it is given.
    fn check(&self, strategy: &'static str, selection: &Selection, tally: &mut Tally) {
        let Answer::Tests { selected, reused } = &selection.answer else {
            *tally.everything.entry(strategy).or_default() += 1;
            return;
        };
        let counts = tally.decided.entry(strategy).or_default();
        for (test, outcome) in &self.outcomes {
            counts.0 += 1;
            if selected.contains(test) {
                continue;
            }
            counts.1 += 1;
            let copied = match reused.get(test) {
                Some(Evidence::OutcomeAt(commit)) => self.project.outcomes_at(*commit).get(test).copied(),
                Some(Evidence::OutcomeOf(fingerprint)) => {
                    self.recorded.get(&(test.clone(), *fingerprint)).copied()
                }
                None => None,
            };
            if copied != Some(*outcome) {
                tally.violations.push(format!("{strategy} leaves out {test} in {}", self.context));
            }
        }
    }

    fn is_concluded(&self, test: &TestId, fingerprint: Digest) -> bool {
        self.recorded.contains_key(&(test.clone(), fingerprint))
    }

    fn check_comparing(&self, head: &Snapshot, tally: &mut Tally) {
        let star = s_star(head, |test, fingerprint| self.is_concluded(test, fingerprint));
        self.check("S*", &star, tally);
        let (s1, sk) = self
            .project
            .with_history(|history| (history.s1(self.parents, head), history.sk(self.parents, head)));
        self.check("S1", &s1, tally);
        self.check("Sk", &sk, tally);
        // A parent without a record only makes Sk larger, so this holds there too.
        let (star, sk) = (star.selected_of(head.keys()), sk.selected_of(head.keys()));
        if !star.is_subset(&sk) {
            tally.violations.push(format!("S* is not within Sk in {}", self.context));
        }
    }

    fn check_predicted(&self, origin: &Origin, has_units: bool, tally: &mut Tally) {
        let mut source = ProjectSource { project: self.project, has_units };
        let parent_of = |commit: CommitIndex| self.project.parents[commit.index()][0];
        let onto = self.parents[0];
        let merged = match origin {
            Origin::Commit | Origin::Merge { is_automatic: false } => return,
            Origin::Merge { is_automatic: true } => {
                merge_of_commits(&self.project.graph(), self.parents, &mut source)
                    .map(|merged| merged.as_ref().clone())
            }
            Origin::CherryPick { picked } => {
                cherry_pick_of_commit(onto, *picked, parent_of(*picked), &mut source)
            }
            Origin::Revert { reverted } => {
                revert_of_commit(onto, *reverted, parent_of(*reverted), &mut source)
            }
        };
        match merged {
            Ok(merged) => {
                let predicted = predict(&merged, |test, fingerprint| self.is_concluded(test, fingerprint));
                self.check("predict", &predicted.selection(), tally);
            }
            Err(Unpredictable::NotRecorded(_)) => *tally.everything.entry("predict").or_default() += 1,
            Err(other) => panic!("{other:?} in {}", self.context),
        }
    }

    fn check_s0(&self, origin: &Origin, head: Option<&Snapshot>, tally: &mut Tally) {
        let parent_of = |commit: CommitIndex| self.project.parents[commit.index()][0];
        let onto = self.parents[0];
        let selection = self.project.with_history(|history| match origin {
            Origin::Commit | Origin::Merge { is_automatic: false } => None,
            Origin::Merge { is_automatic: true } => Some(history.s0_merge(self.parents, head)),
            Origin::CherryPick { picked } => {
                Some(history.s0_cherry_pick(onto, *picked, parent_of(*picked), head))
            }
            Origin::Revert { reverted } => {
                Some(history.s0_revert(onto, *reverted, parent_of(*reverted), head))
            }
        });
        if let Some(selection) = selection {
            self.check("S0", &selection, tally);
        }
    }
}

/// Grows histories and asks `check` about every commit made, before it is recorded itself.
fn over_histories(
    histories: u64,
    habits: Habits,
    mut check: impl FnMut(&Judge<'_>, &Origin, &Snapshot, &mut Tally),
) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..histories {
        let mut growth = Growth::new(seed, habits);
        for _ in 0..5 + growth.dice.below(9) {
            let Some((parents, state, origin)) = growth.step() else { continue };
            if !growth.project.links(&state) {
                continue;
            }
            count(&growth.project, &parents, &origin, &mut tally);
            let head = growth.project.snapshot(&state);
            let judge = Judge {
                project: &growth.project,
                parents: &parents,
                outcomes: growth.project.outcomes(&state),
                recorded: growth.project.recorded_outcomes(),
                context: format!(
                    "history {seed}, commit {}, {origin:?} on {parents:?}",
                    growth.project.states.len()
                ),
            };
            check(&judge, &origin, &head, &mut tally);
            let commit = growth.project.commit(&parents, state);
            growth.project.is_recorded[commit.index()] = !growth.dice.percent(habits.unrecorded);
        }
    }
    tally
}

fn count(project: &Project, parents: &[CommitIndex], origin: &Origin, tally: &mut Tally) {
    match origin {
        Origin::Commit => {}
        Origin::Merge { is_automatic } => {
            let slot = if *is_automatic { &mut tally.automatic_merges } else { &mut tally.edited_merges };
            *slot += 1;
            tally.octopus_merges += usize::from(parents.len() > 2);
            let bases = project.graph().merge_bases(parents[0], parents[1]);
            tally.criss_cross_merges += usize::from(bases.len() > 1);
        }
        Origin::CherryPick { .. } => tally.cherry_picks += 1,
        Origin::Revert { .. } => tally.reverts += 1,
    }
}

impl Tally {
    fn assert_safe(&self) {
        let some = self.violations.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.violations.is_empty(), "{} violations:\n{some}", self.violations.len());
    }

    /// Enough of everything happened, and the strategies left something out.
    fn assert_telling(&self, strategies: &[&str]) {
        assert!(self.automatic_merges > 300, "{self:?}");
        assert!(self.edited_merges > 100, "{self:?}");
        assert!(self.octopus_merges > 20, "{self:?}");
        assert!(self.criss_cross_merges > 20, "{self:?}");
        assert!(self.cherry_picks > 100, "{self:?}");
        assert!(self.reverts > 100, "{self:?}");
        for strategy in strategies {
            let (decided, left_out) = self.decided[strategy];
            assert!(left_out * 10 > decided, "{strategy} left out {left_out} of {decided}");
        }
    }
}

#[test]
fn comparing_strategies_and_predict_are_safe_when_coverage_changes() {
    let habits = Habits { coverage_changes: true, unrecorded: 0 };
    let tally = over_histories(HISTORIES, habits, |judge, origin, head, tally| {
        judge.check_comparing(head, tally);
        judge.check_predicted(origin, true, tally);
    });
    tally.assert_safe();
    tally.assert_telling(&["S1", "Sk", "S*", "predict"]);
}

#[test]
fn they_stay_safe_when_commits_in_between_were_never_recorded() {
    let habits = Habits { coverage_changes: true, unrecorded: 30 };
    let tally = over_histories(HISTORIES / 2, habits, |judge, origin, head, tally| {
        judge.check_comparing(head, tally);
        judge.check_predicted(origin, true, tally);
    });
    tally.assert_safe();
    assert!(tally.everything["predict"] > 100 && tally.everything["S1"] > 100, "{tally:?}");
}

#[test]
fn s0_is_safe_while_coverage_stays() {
    let habits = Habits { coverage_changes: false, unrecorded: 0 };
    let tally = over_histories(HISTORIES, habits, |judge, origin, _, tally| {
        judge.check_s0(origin, None, tally);
    });
    tally.assert_safe();
    tally.assert_telling(&["S0"]);
}

#[test]
fn s0_stays_safe_when_commits_in_between_were_never_recorded() {
    let habits = Habits { coverage_changes: false, unrecorded: 30 };
    let tally = over_histories(HISTORIES, habits, |judge, origin, head, tally| {
        judge.check_s0(origin, Some(head), tally);
    });
    tally.assert_safe();
    let (decided, left_out) = tally.decided["S0"];
    assert!(left_out > 100 && left_out < decided, "{left_out} of {decided}");
}

#[test]
fn the_same_histories_show_that_s0_is_unsafe_when_coverage_changes() {
    let habits = Habits { coverage_changes: true, unrecorded: 0 };
    let tally = over_histories(HISTORIES / 4, habits, |judge, origin, _, tally| {
        judge.check_s0(origin, None, tally);
    });
    for origin in ["Merge", "CherryPick", "Revert"] {
        assert!(tally.violations.iter().any(|violation| violation.contains(origin)), "{origin}");
    }
}

#[test]
fn the_same_histories_show_that_predict_needs_the_units() {
    let habits = Habits { coverage_changes: true, unrecorded: 0 };
    let tally = over_histories(HISTORIES / 2, habits, |judge, origin, _, tally| {
        judge.check_predicted(origin, false, tally);
    });
    assert!(!tally.violations.is_empty(), "an overload on one side and a call on the other");
}
