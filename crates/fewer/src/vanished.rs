//! Tests that were recorded and are gone. What does not run cannot fail: where no test of a program or module is left,
//! that is no green, unless the user says that it is meant. Which recorded states the state at hand is compared with is
//! decided here, what is missing in the core.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use fewer_core::{Snapshot, TestId, Vanished};
use fewer_git::{Nearest, WorkTree, WorkTreeState};
use fewer_store::{StateInfo, Store, StoreError};

use crate::entries::NO_PROGRAM;
use crate::examination::{Starter, WHOLE_PROGRAM};
use crate::project::Project;
use crate::records::FORGOTTEN_FILE;
use crate::session::Session;

/// How many recorded states are looked at.
const STATES: u32 = 200;
/// How many tests and programs a sentence names.
const NAMED: usize = 5;

/// What is gone, and what that means.
pub struct Missing {
    vanished: Vanished,
    /// Where the tests were last. Example: `at commit 0123456789`.
    since: String,
    bearing: Bearing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bearing {
    /// The state at hand comes after those that had the tests.
    Later,
    /// It does not: another branch, or an older commit.
    Elsewhere,
}

/// The state at hand.
pub struct Present<'p> {
    pub state: &'p WorkTreeState,
    pub snapshot: &'p Snapshot,
    pub starters: &'p BTreeMap<TestId, Starter>,
    /// The names of CTest's entries.
    pub declared: &'p BTreeSet<String>,
}

impl Missing {
    /// Compares with the newest recorded state of each nearest commit at or before this one; where the history cannot tell,
    /// with the newest of all.
    pub fn find(session: &Session<'_>, present: &Present<'_>) -> anyhow::Result<Option<Missing>> {
        let store = session.store();
        let (earlier, bearing) = earlier(&store, session.project.work_tree.as_ref(), present.state)
            .context("cannot read which tests were recorded")?;
        let snapshots = earlier.iter().map(|state| Ok(store.state(state.id)?.snapshot));
        let snapshots: Vec<Snapshot> = snapshots.collect::<Result<_, StoreError>>()?;
        let forgotten = forgotten(&session.project);
        let targets: BTreeSet<&str> = present.snapshot.keys().map(|id| id.target.as_str()).collect();
        let is_on_purpose = |id: &TestId| {
            forgotten.contains(id)
                || session.project.settings.excludes(id)
                || (id.name == WHOLE_PROGRAM && targets.contains(id.target.as_str()))
                || (id.target == NO_PROGRAM && present.declared.contains(entry_name(&id.name)))
        };
        let mut vanished = Vanished::since(&snapshots, present.snapshot, is_on_purpose);
        if let (Some(tree), [_, _, ..]) = (&session.project.work_tree, earlier.as_slice()) {
            let sides: Vec<(&StateInfo, &Snapshot)> = earlier.iter().zip(&snapshots).collect();
            let given_up = given_up(&store, tree, &sides, &vanished)?;
            vanished = Vanished::since(&snapshots, present.snapshot, |id| {
                is_on_purpose(id) || given_up.contains(id)
            });
        }
        vanished.targets.retain(|target, _| !present.stands_for(target, &vanished.tests));
        let since = earlier.first().map(shown_state).unwrap_or_default();
        Ok((!vanished.is_empty()).then_some(Missing { vanished, since, bearing }))
    }

    /// The tests, for people and scripts.
    pub fn note(&self) -> String {
        let Missing { vanished, since, bearing } = self;
        let why = match bearing {
            Bearing::Later => "",
            Bearing::Elsewhere => ", which this state does not come after,",
        };
        let (tests, verb) = match vanished.tests.len() {
            1 => ("1 test that was".to_string(), "is"),
            count => (format!("{count} tests that were"), "are"),
        };
        format!("{tests} recorded {since}{why} {verb} not here: {}", named(&vanished.tests))
    }

    /// Why that is no green: programs or modules without any test left.
    pub fn refusal(&self) -> Option<String> {
        let targets = &self.vanished.targets;
        if self.bearing == Bearing::Elsewhere || targets.is_empty() {
            return None;
        }
        let shown: Vec<String> =
            targets.iter().take(NAMED).map(|(target, count)| format!("{target} ({count})")).collect();
        let lost = self.vanished.tests.iter().filter(|id| targets.contains_key(&id.target));
        let first = targets.keys().next().map_or("", String::as_str);
        Some(format!(
            "all tests of {}{} are gone that were recorded {since}: {}. What does not run cannot fail, so this is not green, and no test \
             was run. Is the program built, where fewer looks for it (build-directory and [cargo] in fewer.toml)? If they are \
             gone on purpose: `fewer forget {first}`, or --allow-vanished once",
            shown.join(", "),
            more(targets.len()),
            named(&lost.cloned().collect()),
            since = self.since,
        ))
    }
}

impl Present<'_> {
    /// Whether an entry of CTest whose program is not there stands for a program: it runs, and fails.
    fn stands_for(&self, target: &str, gone: &BTreeSet<TestId>) -> bool {
        let program = target.rsplit('/').next().unwrap_or(target);
        let not_built = format!("{program}_NOT_BUILT");
        self.starters.iter().any(|(id, starter)| match starter {
            Starter::Ctest(entry) => {
                let name = entry.name.as_str();
                let is_its =
                    name == program || name == not_built || gone.contains(&TestId::new(target, name));
                id.target == NO_PROGRAM && is_its
            }
            Starter::GoogleTest { .. }
            | Starter::Unlisted(_)
            | Starter::Whole(_)
            | Starter::Documentation(_)
            | Starter::Libtest(_) => false,
        })
    }
}

/// Remembers that tests are gone on purpose, until the next run is recorded without them.
pub fn forget(session: &Session<'_>, tests: &BTreeSet<TestId>) -> anyhow::Result<()> {
    let path = forgotten_file(&session.project);
    let mut all = forgotten(&session.project);
    all.extend(tests.iter().cloned());
    let lines: String = all.iter().map(|id| format!("{id}\n")).collect();
    fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(session.store().vouch_for(FORGOTTEN_FILE)?)
}

/// From now on the recorded state tells which tests there are.
pub fn settle(project: &Project) {
    // Where it stays, the same tests are forgotten again.
    let _ = fs::remove_file(forgotten_file(project));
}

/// The tests of the newest recorded states: what can be forgotten.
pub fn recorded_tests(store: &Store) -> Result<BTreeSet<TestId>, StoreError> {
    let mut tests = BTreeSet::new();
    for state in store.states(STATES)? {
        tests.extend(store.state(state.id)?.snapshot.into_keys());
    }
    Ok(tests)
}

/// Some tests for a sentence, the rest as a number.
pub fn named(tests: &BTreeSet<TestId>) -> String {
    let shown: Vec<String> = tests.iter().take(NAMED).map(TestId::to_string).collect();
    format!("{}{}", shown.join(", "), more(tests.len()))
}

fn more(count: usize) -> String {
    if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() }
}

fn shown_state(state: &StateInfo) -> String {
    match &state.commit {
        Some(commit) => {
            let commit: String = commit.chars().take(10).collect();
            format!("at commit {commit}")
        }
        None => "by the last run".to_string(),
    }
}

fn forgotten_file(project: &Project) -> PathBuf {
    project.store_directory().join(FORGOTTEN_FILE)
}

fn forgotten(project: &Project) -> BTreeSet<TestId> {
    let text = fewer_files::read_to_string(&forgotten_file(project)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// The name that CTest knows: one that several entries have gets a number.
fn entry_name(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(name, _)| name)
}

/// The recorded states to compare with.
fn earlier(
    store: &Store,
    work_tree: Option<&WorkTree>,
    state: &WorkTreeState,
) -> Result<(Vec<StateInfo>, Bearing), StoreError> {
    let states = store.states(STATES)?;
    let Some(newest) = states.first().cloned() else { return Ok((Vec::new(), Bearing::Later)) };
    let (Some(tree), Some(head), Some(_)) = (work_tree, &state.commit, &newest.commit) else {
        return Ok((vec![newest], Bearing::Later));
    };
    if newest.commit.as_ref() == Some(head) {
        return Ok((vec![newest], Bearing::Later));
    }
    let mut by_commit: HashMap<&str, &StateInfo> = HashMap::new();
    for state in &states {
        if let Some(commit) = &state.commit {
            by_commit.entry(commit).or_insert(state);
        }
    }
    Ok(match tree.nearest(|commit| by_commit.contains_key(commit)) {
        Ok(Nearest::Commits(commits)) => {
            let known = commits.iter().filter_map(|commit| by_commit.get(commit.as_str()));
            (known.map(|state| StateInfo::clone(state)).collect(), Bearing::Later)
        }
        Ok(Nearest::None) => (vec![newest], Bearing::Elsewhere),
        Ok(Nearest::Unknown) | Err(_) => (vec![newest], Bearing::Later),
    })
}

/// Of several branches that meet here, one that had a test and lost it has given it up for all.
fn given_up(
    store: &Store,
    tree: &WorkTree,
    sides: &[(&StateInfo, &Snapshot)],
    vanished: &Vanished,
) -> Result<BTreeSet<TestId>, StoreError> {
    let mut given_up = BTreeSet::new();
    if vanished.is_empty() {
        return Ok(given_up);
    }
    for state in store.states(STATES)? {
        let snapshot = store.state(state.id)?.snapshot;
        let Some(commit) = &state.commit else { continue };
        for (side, kept) in sides {
            let lost = vanished.tests.iter().filter(|id| snapshot.contains_key(id) && !kept.contains_key(id));
            let lost: Vec<&TestId> = lost.collect();
            let is_before = || side.commit.as_ref().is_some_and(|side| tree.comes_before(commit, side));
            if !lost.is_empty() && is_before() {
                given_up.extend(lost.into_iter().cloned());
            }
        }
    }
    Ok(given_up)
}
