//! The strategies for a state that has been built: what decides about its tests, and in one line why.

use std::collections::BTreeMap;

use fewer_core::history::{self, Answer, Cause, CommitIndex, Dominators, Selection};
use fewer_core::{Scope, Snapshot, StrategyChoice};
use fewer_git::{CommitHash, History, HistoryError, Repository, Tips, WorkTreeState};
use fewer_store::Store;

use super::head::{Making, Step};
use super::recorded::RecordedCommits;
use super::request::Request;
use super::{never_recorded, short, shown};
use crate::cli::StrategyName;
use crate::session::Session;

/// What is said wherever S0 decides.
pub const UNSAFE: &str = "S0 is unsafe when a change alters what a test reaches: the test may be skipped although its result \
                          changes; s-star (the default) and predict allow for that";

/// What decides, and why that.
pub struct Chosen {
    pub scope: Scope,
    pub strategy: StrategyName,
    pub because: String,
    pub notes: Vec<String>,
}

/// For the state at hand, which is what is built. Where the history does not tell, every test runs.
pub fn choose(
    session: &Session<'_>,
    request: &Request,
    state: &WorkTreeState,
    snapshot: &Snapshot,
) -> Chosen {
    let strategy = request.when_built();
    let plain =
        |scope, because: &str| Chosen { scope, strategy, because: because.to_string(), notes: Vec::new() };
    if request.all {
        return plain(Scope::All, "all tests were asked for");
    }
    let comparison = match strategy {
        StrategyName::Auto | StrategyName::SStar | StrategyName::Predict => {
            let because =
                "an outcome recorded for the same fingerprint, wherever it was seen, is the outcome here";
            return plain(Scope::Fingerprints, because);
        }
        StrategyName::S0 => Comparison::S0,
        StrategyName::S1 => Comparison::S1,
        StrategyName::Sk => Comparison::Sk,
    };
    let compared = compare(session, comparison, request.base.as_deref(), state, snapshot);
    compared.unwrap_or_else(|cause| Chosen {
        because: format!("everything runs: {cause}"),
        scope: Scope::Everything { cause },
        strategy,
        notes: Vec::new(),
    })
}

/// The strategies that compare what is built with recorded commits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    S0,
    S1,
    Sk,
}

impl Comparison {
    fn name(self) -> StrategyName {
        match self {
            Comparison::S0 => StrategyName::S0,
            Comparison::S1 => StrategyName::S1,
            Comparison::Sk => StrategyName::Sk,
        }
    }
}

/// What a strategy needs of the repository: the commits, and what the state at hand is among them.
pub(super) struct Ground {
    pub repository: Repository,
    pub history: History,
    pub dominators: Dominators,
}

impl Ground {
    /// The history that some commits come from.
    pub fn of(repository: Repository, tips: Vec<CommitHash>) -> Result<Ground, HistoryError> {
        let history = History::load(&repository, &Tips::Commits(tips))?;
        let dominators = Dominators::of(history.graph());
        Ok(Ground { repository, history, dominators })
    }

    pub fn indices(&self, commits: &[CommitHash]) -> Result<Vec<CommitIndex>, HistoryError> {
        commits.iter().map(|commit| self.history.require(commit)).collect()
    }

    pub fn hashes<'c>(&self, commits: impl IntoIterator<Item = &'c CommitIndex>) -> Vec<CommitHash> {
        commits.into_iter().map(|&commit| self.history.hash(commit)).collect()
    }

    /// A clone that ends early has neither the dominators nor the branches of the whole history.
    pub fn require_complete(&self) -> Result<(), HistoryError> {
        match self.history.shallow() {
            [] => Ok(()),
            [first, ..] => Err(HistoryError::Shallow {
                what: format!("the parents of {}", short(self.history.hash(*first))),
            }),
        }
    }

    /// Why everything was selected, in words.
    pub fn words(&self, cause: Cause) -> String {
        match cause {
            Cause::NotRecorded(commit) => never_recorded(self.history.hash(commit)),
            Cause::NoParentRecorded => "none of the parents was ever recorded here".to_string(),
            Cause::NotAMerge => "S0 has no rule for an ordinary commit; use s1 or s-star".to_string(),
        }
    }

    pub fn gap_note(&self, selection: &Selection) -> Option<String> {
        let missing = self.hashes(&selection.not_recorded);
        (!missing.is_empty()).then(|| {
            format!(
                "commits that were never recorded here: {}. Every test counts as affected by them",
                shown(&missing)
            )
        })
    }
}

fn compare(
    session: &Session<'_>,
    comparison: Comparison,
    base: Option<&str>,
    state: &WorkTreeState,
    snapshot: &Snapshot,
) -> Result<Chosen, String> {
    let words = |error: HistoryError| error.to_string();
    let repository = Repository::open(&session.project.root).map_err(words)?;
    let step = match base {
        Some(base) => onto_base(&repository, base).map_err(words)?,
        None => Step::at_hand(&repository, state).map_err(words)?,
    };
    let ground = Ground::of(repository, tips_of(&step)).map_err(words)?;
    if base.is_none() {
        ground.require_complete().map_err(words)?;
    }
    let store = session.store();
    let (selection, cause) = select(&ground, &store, comparison, &step, snapshot).map_err(words)?;
    let is_s0 = comparison == Comparison::S0;
    let warning = is_s0.then(|| UNSAFE.to_string());
    let notes: Vec<String> = warning.into_iter().chain(ground.gap_note(&selection)).collect();
    let selected = match selection.answer {
        Answer::Everything(cause) => return Err(ground.words(cause)),
        Answer::Tests { selected, .. } => selected,
    };
    let selected: BTreeMap<_, _> = selected.into_iter().map(|test| (test, cause.clone())).collect();
    let unaffected = is_s0.then(|| "no more than one side affected it".to_string());
    let because = match base {
        Some(base) => format!("compared with {base}"),
        None => reason_of(&step),
    };
    let strategy = comparison.name();
    let choice = StrategyChoice { strategy: strategy.word(), selected, unaffected };
    Ok(Chosen { scope: Scope::Strategy(choice), strategy, because, notes })
}

/// The named commit as the only parent. Histories that never met are refused: nothing tells that they are of
/// one project.
fn onto_base(repository: &Repository, base: &str) -> Result<Step, HistoryError> {
    let base = repository.resolve(base)?;
    repository.merge_bases(base, repository.resolve("HEAD")?)?;
    Ok(Step { parents: vec![base], making: Making::Commit })
}

pub(super) fn tips_of(step: &Step) -> Vec<CommitHash> {
    let mut tips = step.parents.clone();
    match &step.making {
        Making::CherryPick { picked, .. } => tips.push(*picked),
        Making::Revert { reverted, .. } => tips.push(*reverted),
        Making::Merge(_) | Making::Commit | Making::LocalChanges => {}
    }
    tips
}

/// The selection, and the cause that each selected test gets.
fn select(
    ground: &Ground,
    store: &Store,
    comparison: Comparison,
    step: &Step,
    snapshot: &Snapshot,
) -> Result<(Selection, String), HistoryError> {
    let parents = ground.indices(&step.parents)?;
    let records = match comparison {
        Comparison::S0 => RecordedCommits::tested(store, &ground.repository, &ground.history),
        Comparison::S1 | Comparison::Sk => RecordedCommits::new(store, &ground.repository, &ground.history),
    };
    let mut history = history::History::new(ground.history.graph(), &ground.dominators, &records);
    match comparison {
        Comparison::S0 => s0(ground, &mut history, step, &parents, Some(snapshot)),
        Comparison::S1 => Ok((history.s1(&parents, snapshot), differs_from_dominator(ground, &parents))),
        Comparison::Sk => {
            let cause = "what it reaches differs from every parent".to_string();
            Ok((history.sk(&parents, snapshot), cause))
        }
    }
}

fn differs_from_dominator(ground: &Ground, parents: &[CommitIndex]) -> String {
    match ground.dominators.common_of(parents) {
        Some(dominator) => {
            format!("what it reaches differs from commit {}", short(ground.history.hash(dominator)))
        }
        None => "there is no earlier commit".to_string(),
    }
}

/// S0 by the rule for how the step was made.
pub(super) fn s0(
    ground: &Ground,
    history: &mut history::History<'_, RecordedCommits<'_>>,
    step: &Step,
    parents: &[CommitIndex],
    snapshot: Option<&Snapshot>,
) -> Result<(Selection, String), HistoryError> {
    let index = |commit: &CommitHash| ground.history.require(commit);
    Ok(match (&step.making, parents) {
        (Making::CherryPick { picked, picked_parent, .. }, &[onto]) => {
            let cause = "the picked commit and another one affected it".to_string();
            (history.s0_cherry_pick(onto, index(picked)?, index(picked_parent)?, snapshot), cause)
        }
        (Making::Revert { reverted, reverted_parent, .. }, &[onto]) => {
            let cause = "the reverted commit and another one affected it".to_string();
            (history.s0_revert(onto, index(reverted)?, index(reverted_parent)?, snapshot), cause)
        }
        (
            Making::Merge(_)
            | Making::Commit
            | Making::LocalChanges
            | Making::CherryPick { .. }
            | Making::Revert { .. },
            _,
        ) => {
            let cause = "more than one branch affected it, or some parent lacks it".to_string();
            (history.s0_merge(parents, snapshot), cause)
        }
    })
}

/// What the state at hand is, for the line that says why.
pub(super) fn reason_of(step: &Step) -> String {
    match &step.making {
        Making::Merge(_) => format!("it merges {}", shown(&step.parents)),
        Making::CherryPick { picked, .. } => {
            format!("{} is picked onto {}", short(*picked), shown(&step.parents))
        }
        Making::Revert { reverted, .. } => {
            format!("{} is reverted on {}", short(*reverted), shown(&step.parents))
        }
        Making::Commit if step.parents.is_empty() => "HEAD is the first commit".to_string(),
        Making::Commit => format!("HEAD comes after {}", shown(&step.parents)),
        Making::LocalChanges => format!("there are local changes on top of {}", shown(&step.parents)),
    }
}
