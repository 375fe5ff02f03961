//! `fewer run --order`, `--skip` and `--budget`: the selected tests in the order in which they are most likely to
//! change, and those that are left out for want of time. What is recorded of a run that leaves tests out must say so:
//! a strategy that takes a commit for tested would miss them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, bail};
use fewer_core::ranking::{
    Contender, Limit, RANKING_FILE, RANKING_FORMAT, RankingAlgorithm, RankingRecord, RankingRule,
    comes_first, median, rank, score, shared_directories,
};
use fewer_core::{Decision, Digest, DigestBuilder, Domain, Plan, Reason, TestId};
use fewer_report::RankingView;
use fewer_store::{StateId, Store};

use crate::cli::RankingOptions;
use crate::current::Current;
use crate::names::readable_test;
use crate::session::Session;
use crate::sightings::{self, Seen};

/// The part of a state that names the tests which its run left out although they may have changed.
pub const LEFT_OUT_KIND: &str = "left-out";
const LEFT_OUT: Domain = Domain::new("state.left-out");

/// The selected tests, ranked.
pub struct Ranking {
    pub view: RankingView,
}

impl Ranking {
    /// By test, from 0: the first is most likely to change.
    pub fn ranks(&self) -> BTreeMap<TestId, usize> {
        self.view.order.iter().cloned().zip(0..).collect()
    }
}

/// Ranks the selected tests and leaves out what is not wanted, if anything of that was asked for.
pub fn apply(
    session: &Session<'_>,
    options: &RankingOptions,
    workers: NonZeroUsize,
    current: &mut Current,
) -> anyhow::Result<Option<Ranking>> {
    if !options.is_given() {
        return Ok(None);
    }
    let _phase = session.timings.phase("rank");
    let (rule, because) = rule_of(&session.project.store_directory().join(RANKING_FILE))?;
    current.notes.push(format!("tests are ranked by {rule}: {because}"));
    let ranked = rank(contenders(session, &rule, workers, current)?);
    let limit =
        Limit { skip_percent: options.skip, budget_s: options.budget.map(|budget| budget.as_secs_f64()) };
    let guess_s = median(current.plan.tests.iter().filter_map(|test| test.expected_s));
    if limit.budget_s.is_some() && guess_s.is_none() && !ranked.is_empty() {
        current.notes.push(
            "no test has run here yet, so that nobody knows what fits into the budget: nothing is left out for it"
                .to_string(),
        );
    }
    let kept = limit.kept(&ranked, guess_s);
    current.plan.keep_first(&ranked, kept, &rule, |test| readable_test(test).reason.to_string());
    let order: Vec<TestId> = ranked.into_iter().map(|contender| contender.id).collect();
    let view = RankingView {
        algorithm: rule.algorithm.word(),
        window_h: rule.window_h,
        milestone_h: rule.milestone_h,
        because,
        left_out: order[kept..].to_vec(),
        order,
    };
    Ok(Some(Ranking { view }))
}

/// The tests that a plan leaves out although they may have changed, as a part of the state: its key and content.
/// `None` where there are none.
pub fn left_out_part(plan: &Plan) -> Option<(Digest, Vec<u8>)> {
    let is_untested = |reason: &Reason| matches!(reason, Reason::Redundant { .. } | Reason::Budget { .. });
    let tests: Vec<String> = plan
        .with(Decision::LeftOut)
        .filter(|test| is_untested(&test.reason))
        .map(|test| test.id.to_string())
        .collect();
    let mut key = DigestBuilder::new(LEFT_OUT);
    tests.iter().for_each(|test| {
        key.text(test);
    });
    (!tests.is_empty()).then(|| (key.finish(), tests.join("\n").into_bytes()))
}

/// How many tests the run of a state left out although they may have changed.
pub fn left_out_of(store: &Store, state: StateId) -> anyhow::Result<usize> {
    let manifest = store.state(state)?.manifest;
    let keys: Vec<Digest> =
        manifest.iter().filter(|entry| entry.kind == LEFT_OUT_KIND).map(|entry| entry.key).collect();
    let lists = store.blobs(LEFT_OUT_KIND, &keys)?;
    Ok(lists.values().map(|list| String::from_utf8_lossy(list).lines().count()).sum())
}

/// The rule, and in words why this one.
fn rule_of(path: &Path) -> anyhow::Result<(RankingRule, String)> {
    let text = match fewer_files::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let because = "the history of this project has not been simulated yet; `fewer simulate import store` \
                           and `fewer simulate run` tell what suits it best";
            return Ok((RankingRule::default(), because.to_string()));
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    let what_to_do = "delete it, or let `fewer simulate run` write it again";
    let record: RankingRecord = serde_json::from_str(&text)
        .with_context(|| format!("{} cannot be understood; {what_to_do}", path.display()))?;
    if record.format != RANKING_FORMAT || !record.rule.is_whole() {
        bail!(
            "{} holds '{}' with {}, which this version does not know; {what_to_do}",
            path.display(),
            record.format,
            record.rule
        );
    }
    let RankingRecord { rule, area, history, .. } = record;
    Ok((rule, format!("it did best in the simulation of {history}, with {area:.2} of the area safe")))
}

fn contenders(
    session: &Session<'_>,
    rule: &RankingRule,
    workers: NonZeroUsize,
    current: &mut Current,
) -> anyhow::Result<Vec<Contender>> {
    let selected: Vec<_> =
        current.plan.with(Decision::Run).map(|test| (test.id.clone(), test.fingerprint)).collect();
    let records = session.store().records(&selected)?;
    let wanted: BTreeSet<TestId> = selected.into_iter().map(|(test, _)| test).collect();
    let Seen { now, by_test, notes } = sightings::gather(session, rule, &current.state, &wanted)?;
    let files = match rule.algorithm {
        RankingAlgorithm::SharedDirectories => modified_files(session, current),
        RankingAlgorithm::TransitionCount
        | RankingAlgorithm::AffectedCount
        | RankingAlgorithm::AuthorCount => Vec::new(),
    };
    current.notes.extend(notes);
    let always = &session.project.settings.always;
    let contenders = current.plan.with(Decision::Run).map(|test| {
        let record = records.get(&test.id).cloned().unwrap_or_default();
        let by_files = || shared_directories(&test.id.to_string(), files.iter().map(String::as_str));
        Contender {
            id: test.id.clone(),
            comes_first: comes_first(&test.reason, &record) || always.matching(&test.id).is_some(),
            score: by_test.get(&test.id).map_or_else(by_files, |seen| score(rule, seen, now)),
            expected_s: test.expected_s,
            // The tool of a Java project runs one class after the other, unless told otherwise.
            lanes: if current.starters.contains_key(&test.id) { workers.get() } else { 1 },
        }
    });
    Ok(contenders.collect())
}

/// What the state at hand changes: the commit, or what is not committed.
fn modified_files(session: &Session<'_>, current: &mut Current) -> Vec<String> {
    let Some(work_tree) = &session.project.work_tree else { return Vec::new() };
    let files = match current.state.dirty {
        true => work_tree.changed_since("HEAD"),
        false => work_tree.changed_between("HEAD^", "HEAD"),
    };
    let files = files.unwrap_or_else(|error| {
        current.notes.push(format!("git cannot tell the modified files that tests are ranked by: {error}"));
        Vec::new()
    });
    files.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}
