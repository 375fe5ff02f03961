//! The plan: every test is run, reused or left out, with the reason and its evidence. A pure decision over
//! fingerprints and recorded outcomes; running and recording are done elsewhere.

use std::collections::BTreeMap;
use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Serialize;

use crate::digest::Digest;
use crate::explain::Explanation;
use crate::graph::Mapping;
use crate::outcome::{RecordedOutcome, Verdict};
use crate::test_id::TestId;

/// How many recorded states a failure is remembered for, unless the user says otherwise.
pub const FAILURE_MEMORY: u32 = 10;

/// So many tests are named in a sentence.
const NAMED: usize = 3;

/// What the user wants beyond the fingerprints.
#[derive(Clone, Debug)]
pub struct Policy {
    pub scope: Scope,
    /// Tests that always run.
    pub always: Patterns,
    /// A test that failed within this many recorded states runs again.
    pub failure_memory: u32,
    /// The machine that decides: a pass there, with the content at hand, ends the memory of an earlier failure.
    pub machine: String,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            scope: Scope::Fingerprints,
            always: Patterns::default(),
            failure_memory: FAILURE_MEMORY,
            machine: String::new(),
        }
    }
}

/// What decides, beside failures, flakiness and the user's own list.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Scope {
    /// The outcomes recorded for each test's fingerprint, wherever they were seen.
    #[default]
    Fingerprints,
    /// The user asked for every test.
    All,
    /// Nothing can be told, so every test runs.
    Everything { cause: String },
    /// A strategy over the history of commits.
    Strategy(StrategyChoice),
}

/// What a strategy over the history says of a state's tests.
#[derive(Clone, PartialEq, Debug)]
pub struct StrategyChoice {
    /// Example: `s1`.
    pub strategy: &'static str,
    /// The selected tests, each with the cause in words.
    pub selected: BTreeMap<TestId, String>,
    /// Why the others need not run even where no outcome is recorded for what they reach, in words; where
    /// nothing says so, they run.
    pub unaffected: Option<String>,
}

/// A test of the state at hand.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub id: TestId,
    pub fingerprint: Digest,
    pub mapping: Mapping,
    pub disabled: bool,
}

/// What is recorded about one test, gathered by the store for the fingerprint at hand.
#[derive(Clone, Debug, Default)]
pub struct TestRecord {
    /// Outcomes under the very fingerprint at hand, newest first, wherever they were seen.
    pub same_fingerprint: Vec<RecordedOutcome>,
    /// The newest outcome under any fingerprint.
    pub last: Option<RecordedOutcome>,
    /// The newest failure under any fingerprint.
    pub last_failure: Option<RecordedOutcome>,
}

/// Why a test runs, is reused or is left out; the evidence is in the variant.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "reason", content = "evidence", rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing is recorded about the test.
    New,
    /// Recorded before, but never with what it reaches now.
    Changed {
        /// The path to the nearest change, where the earlier state is still recorded.
        because: Option<Explanation>,
        last: RecordedOutcome,
    },
    /// The newest outcome with this very content is a failure.
    FailedLast { last: RecordedOutcome },
    /// It passed with this content, but failed since, or within the last few recorded states and did not pass here since.
    FailedRecently {
        failure: RecordedOutcome,
        /// For how many more recorded states the failure is remembered, unless a pass ends that.
        states_left: u32,
    },
    /// One fingerprint, different outcomes.
    Flaky { passed: RecordedOutcome, failed: RecordedOutcome },
    /// Only skipped or interrupted with this content so far.
    Inconclusive { last: RecordedOutcome },
    /// The user lists it as always.
    Always { pattern: String },
    /// The analyser cannot see what the test reaches.
    Unmapped { cause: String },
    /// The user asked for every test.
    All,
    /// Nothing can be told about any test.
    Everything { cause: String },
    /// A strategy over the history selects it.
    Selected { strategy: &'static str, cause: String },
    /// It passed with everything it can reach as it is now.
    Passed { from: RecordedOutcome },
    /// A strategy over the history does not select it; no outcome is recorded for what it reaches.
    Unaffected { strategy: &'static str, cause: String },
    /// The framework does not run it.
    Disabled,
    /// With this content the build's own rules kept it from running.
    Excluded { last: RecordedOutcome },
    /// It would run, but the user runs a reduced suite, and tests that are kept there make it redundant.
    Redundant { because_of: Vec<TestId>, selected: String },
    /// It would run, but is ranked too low for what the user wants to spend.
    Budget {
        /// 1 is the first.
        rank: usize,
        of: usize,
        /// Example: `author-count/96h`.
        by: String,
        selected: String,
    },
}

/// What becomes of a test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    Run,
    Reuse,
    LeftOut,
}

impl Decision {
    pub fn word(self) -> &'static str {
        match self {
            Decision::Run => "run",
            Decision::Reuse => "reuse",
            Decision::LeftOut => "left-out",
        }
    }
}

impl Reason {
    pub fn decision(&self) -> Decision {
        match self {
            Reason::New
            | Reason::Changed { .. }
            | Reason::FailedLast { .. }
            | Reason::FailedRecently { .. }
            | Reason::Flaky { .. }
            | Reason::Inconclusive { .. }
            | Reason::Always { .. }
            | Reason::Unmapped { .. }
            | Reason::All
            | Reason::Everything { .. }
            | Reason::Selected { .. } => Decision::Run,
            Reason::Passed { .. } | Reason::Unaffected { .. } => Decision::Reuse,
            Reason::Disabled | Reason::Excluded { .. } | Reason::Redundant { .. } | Reason::Budget { .. } => {
                Decision::LeftOut
            }
        }
    }

    /// Whether a reduced suite may leave the test out although it would run.
    fn gives_way(&self) -> bool {
        match self {
            Reason::New
            | Reason::Changed { .. }
            | Reason::Unmapped { .. }
            | Reason::All
            | Reason::Everything { .. }
            | Reason::Selected { .. } => true,
            Reason::FailedLast { .. }
            | Reason::FailedRecently { .. }
            | Reason::Flaky { .. }
            | Reason::Inconclusive { .. }
            | Reason::Always { .. }
            | Reason::Passed { .. }
            | Reason::Unaffected { .. }
            | Reason::Disabled
            | Reason::Excluded { .. }
            | Reason::Redundant { .. }
            | Reason::Budget { .. } => false,
        }
    }

    /// The word used in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Reason::New => "new",
            Reason::Changed { .. } => "changed",
            Reason::FailedLast { .. } => "failed-last",
            Reason::FailedRecently { .. } => "failed-recently",
            Reason::Flaky { .. } => "flaky",
            Reason::Inconclusive { .. } => "inconclusive",
            Reason::Always { .. } => "always",
            Reason::Unmapped { .. } => "unmapped",
            Reason::All => "all",
            Reason::Everything { .. } => "everything",
            Reason::Selected { .. } => "selected",
            Reason::Passed { .. } => "passed",
            Reason::Unaffected { .. } => "unaffected",
            Reason::Disabled => "disabled",
            Reason::Excluded { .. } => "excluded",
            Reason::Redundant { .. } => "redundant",
            Reason::Budget { .. } => "budget",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::New => write!(f, "new: nothing is recorded about it"),
            Reason::Changed { because: Some(because), .. } => write!(f, "{because}"),
            Reason::Changed { because: None, .. } => {
                write!(f, "what it reaches changed (the earlier state is no longer recorded in detail)")
            }
            Reason::FailedLast { last } => {
                write!(f, "it {} last time with the same content ({})", last.verdict.word(), seen(last))
            }
            Reason::FailedRecently { failure, states_left } => {
                let (verdict, ago) = (failure.verdict.word(), failure.states_ago);
                write!(
                    f,
                    "it {verdict} {ago} recorded state(s) ago; it runs until it passes here with this content"
                )?;
                match states_left {
                    0 => Ok(()),
                    left => write!(f, ", or for {left} more recorded state(s) (failure-memory)"),
                }
            }
            Reason::Flaky { passed, failed } => {
                write!(
                    f,
                    "flaky: with the same content it passed ({}) and {} ({})",
                    seen(passed),
                    failed.verdict.word(),
                    seen(failed)
                )
            }
            Reason::Inconclusive { last } => {
                write!(
                    f,
                    "no conclusive outcome with this content yet (last: {}, {})",
                    last.verdict.word(),
                    seen(last)
                )
            }
            Reason::Always { pattern } => write!(f, "listed as always: '{pattern}'"),
            Reason::Unmapped { cause } => write!(f, "always runs: {cause}"),
            Reason::All => write!(f, "all tests were asked for"),
            Reason::Everything { cause } => write!(f, "everything runs: {cause}"),
            Reason::Selected { strategy, cause } => write!(f, "selected by {strategy}: {cause}"),
            Reason::Passed { from } => {
                write!(f, "nothing it can reach has changed since it passed ({})", seen(from))
            }
            Reason::Unaffected { strategy, cause } => write!(f, "not selected by {strategy}: {cause}"),
            Reason::Disabled => write!(f, "disabled in the source"),
            Reason::Excluded { last } => {
                write!(f, "the build's own patterns or groups leave it out ({})", seen(last))
            }
            Reason::Redundant { because_of, selected } => {
                let named: Vec<String> = because_of.iter().take(NAMED).map(TestId::to_string).collect();
                let by = match (&named[..], because_of.len().saturating_sub(NAMED)) {
                    ([], _) => "the reduced suite does not keep it".to_string(),
                    (_, 0) => format!("made redundant by {}", named.join(", ")),
                    (_, more) => format!("made redundant by {} and {more} more", named.join(", ")),
                };
                write!(f, "{by}; it would run: {selected}")
            }
            Reason::Budget { rank, of, by, selected } => {
                write!(f, "not run, by budget: ranked {rank} of {of} by {by}; it would run: {selected}")
            }
        }
    }
}

/// Where and when an outcome was seen, for a sentence.
fn seen(outcome: &RecordedOutcome) -> String {
    let commit = match (&outcome.commit, outcome.dirty) {
        (Some(commit), false) => format!("commit {}, ", short(commit)),
        (Some(commit), true) => format!("commit {} with local changes, ", short(commit)),
        (None, _) => String::new(),
    };
    format!("{commit}{}, on {}", outcome.at, outcome.machine)
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// A test and what was decided about it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlannedTest {
    pub id: TestId,
    pub decision: Decision,
    #[serde(flatten)]
    pub reason: Reason,
    #[serde(skip)]
    pub fingerprint: Digest,
    /// How long it took when it last ran, if it ever did.
    #[serde(skip)]
    pub expected_s: Option<f64>,
}

/// Every test of a state with its decision, sorted by id.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plan {
    pub tests: Vec<PlannedTest>,
}

impl Plan {
    pub fn with(&self, decision: Decision) -> impl Iterator<Item = &PlannedTest> {
        self.tests.iter().filter(move |test| test.decision == decision)
    }

    pub fn count(&self, decision: Decision) -> usize {
        self.with(decision).count()
    }

    /// Selection of reduction: of the tests that would run, leaves out those that a reduced suite makes redundant,
    /// each given with the kept tests that do so. A known failure, a flaky test, one without a conclusive outcome and
    /// one that the user always wants run all the same. Returns how many were left out.
    pub fn leave_out(&mut self, redundant: &BTreeMap<TestId, Vec<TestId>>) -> usize {
        let mut left_out = 0;
        for test in self.tests.iter_mut().filter(|test| test.reason.gives_way()) {
            if let Some(because_of) = redundant.get(&test.id) {
                let (because_of, selected) = (because_of.clone(), test.reason.to_string());
                test.reason = Reason::Redundant { because_of, selected };
                test.decision = test.reason.decision();
                left_out += 1;
            }
        }
        left_out
    }
}

/// Decides for every candidate. `explain` gives the path to the change of a test whose fingerprint is new; it
/// is asked only for those.
pub fn plan(
    candidates: Vec<Candidate>,
    record: impl Fn(&TestId) -> TestRecord,
    explain: impl Fn(&TestId) -> Option<Explanation>,
    policy: &Policy,
) -> Plan {
    let mut tests: Vec<PlannedTest> = candidates
        .into_iter()
        .map(|candidate| {
            let record = record(&candidate.id);
            let expected_s = record.last.as_ref().map(|last| last.duration_s);
            let reason = decide(&candidate, record, &explain, policy);
            PlannedTest {
                decision: reason.decision(),
                reason,
                id: candidate.id,
                fingerprint: candidate.fingerprint,
                expected_s,
            }
        })
        .collect();
    tests.sort_by(|a, b| a.id.cmp(&b.id));
    Plan { tests }
}

fn decide(
    candidate: &Candidate,
    record: TestRecord,
    explain: &impl Fn(&TestId) -> Option<Explanation>,
    policy: &Policy,
) -> Reason {
    if candidate.disabled {
        return Reason::Disabled;
    }
    match &policy.scope {
        Scope::All => return Reason::All,
        Scope::Everything { cause } => return Reason::Everything { cause: cause.clone() },
        Scope::Fingerprints | Scope::Strategy(_) => {}
    }
    if let Mapping::Unmapped { cause } = &candidate.mapping {
        return Reason::Unmapped { cause: cause.clone() };
    }
    if let Some(pattern) = policy.always.matching(&candidate.id) {
        return Reason::Always { pattern: pattern.to_string() };
    }
    let by_fingerprint = decide_by_fingerprint(candidate, record, explain, policy);
    match &policy.scope {
        Scope::Strategy(choice) => decide_by_strategy(candidate, by_fingerprint, choice),
        Scope::Fingerprints | Scope::All | Scope::Everything { .. } => by_fingerprint,
    }
}

/// A strategy says which tests can have another outcome; a failure that is known runs again all the same, and so
/// does a test that never got as far as an outcome.
fn decide_by_strategy(candidate: &Candidate, by_fingerprint: Reason, choice: &StrategyChoice) -> Reason {
    let strategy = choice.strategy;
    if matches!(
        by_fingerprint,
        Reason::FailedLast { .. }
            | Reason::FailedRecently { .. }
            | Reason::Flaky { .. }
            | Reason::Inconclusive { .. }
    ) {
        return by_fingerprint;
    }
    match (choice.selected.get(&candidate.id), &choice.unaffected) {
        (Some(cause), _) => Reason::Selected { strategy, cause: cause.clone() },
        (None, Some(cause)) if by_fingerprint.decision() == Decision::Run => {
            Reason::Unaffected { strategy, cause: cause.clone() }
        }
        (None, Some(_) | None) => by_fingerprint,
    }
}

fn decide_by_fingerprint(
    candidate: &Candidate,
    record: TestRecord,
    explain: &impl Fn(&TestId) -> Option<Explanation>,
    policy: &Policy,
) -> Reason {
    let TestRecord { same_fingerprint, last, last_failure } = record;
    let Some(last) = last else { return Reason::New };
    let newest = |wanted: fn(Verdict) -> bool| {
        same_fingerprint.iter().find(|outcome| wanted(outcome.verdict)).cloned()
    };
    let passed = newest(|verdict| verdict == Verdict::Passed);
    let failed = newest(Verdict::is_failure);
    match (passed, failed) {
        (Some(passed), Some(failed)) => Reason::Flaky { passed, failed },
        (None, Some(last)) => Reason::FailedLast { last },
        (None, None) => match same_fingerprint.into_iter().next() {
            Some(last) if last.verdict == Verdict::Excluded => Reason::Excluded { last },
            Some(last) => Reason::Inconclusive { last },
            None => Reason::Changed { because: explain(&candidate.id), last },
        },
        (Some(from), None) => match last_failure {
            Some(failure) if is_remembered(&failure, &same_fingerprint, &last, policy) => {
                let states_left = policy.failure_memory.saturating_sub(failure.states_ago);
                Reason::FailedRecently { failure, states_left }
            }
            Some(_) | None => Reason::Passed { from },
        },
    }
}

/// Whether a failure with other content still makes a test run that passed with this one: where it is the newest outcome,
/// or a young one that no pass on this machine with this content came after.
fn is_remembered(
    failure: &RecordedOutcome,
    same_fingerprint: &[RecordedOutcome],
    last: &RecordedOutcome,
    policy: &Policy,
) -> bool {
    let is_later = |pass: &RecordedOutcome| (&pass.at, failure.states_ago) > (&failure.at, pass.states_ago);
    let ends = |outcome: &RecordedOutcome| {
        outcome.verdict == Verdict::Passed && outcome.machine == policy.machine && is_later(outcome)
    };
    last.verdict.is_failure()
        || (failure.states_ago < policy.failure_memory && !same_fingerprint.iter().any(ends))
}

/// Patterns over test ids: an unambiguous suffix, or a glob in which `*` also crosses `/` and `::`.
///
/// Example: `Database.*`, `slow_test::*`, `Lexer.SkipsBlanks`.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    patterns: Vec<(String, GlobSet)>,
}

impl Patterns {
    pub fn parse(patterns: &[String]) -> Result<Patterns, globset::Error> {
        let compile = |pattern: &String| -> Result<(String, GlobSet), globset::Error> {
            let mut globs = GlobSetBuilder::new();
            for anchor in ["", "*::", "*/"] {
                globs.add(GlobBuilder::new(&format!("{anchor}{pattern}")).literal_separator(false).build()?);
            }
            Ok((pattern.clone(), globs.build()?))
        };
        Ok(Patterns { patterns: patterns.iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// The first pattern that names the test.
    pub fn matching(&self, id: &TestId) -> Option<&str> {
        let whole = id.to_string();
        self.patterns
            .iter()
            .find(|(text, globs)| id.matches_suffix(text) || globs.is_match(&whole))
            .map(|(text, _)| text.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: Verdict, fingerprint: u128, states_ago: u32) -> RecordedOutcome {
        RecordedOutcome {
            verdict,
            duration_s: 0.5,
            fingerprint: Digest(fingerprint),
            commit: Some("0123456789abcdef".into()),
            dirty: false,
            at: "2026-11-15T20:15:04Z".into(),
            machine: "here".into(),
            states_ago,
        }
    }

    /// The word of the decision for a test at fingerprint 1 with the outcomes given newest first.
    fn reason(outcomes: &[RecordedOutcome], policy: &Policy) -> &'static str {
        let record = TestRecord {
            same_fingerprint: outcomes.iter().filter(|o| o.fingerprint == Digest(1)).cloned().collect(),
            last: outcomes.first().cloned(),
            last_failure: outcomes.iter().find(|o| o.verdict.is_failure()).cloned(),
        };
        let candidate = Candidate {
            id: TestId::new("t", "S.N"),
            fingerprint: Digest(1),
            mapping: Mapping::Mapped,
            disabled: false,
        };
        plan(vec![candidate], |_| record.clone(), |_| None, policy).tests[0].reason.word()
    }

    #[test]
    fn each_history_gets_its_reason() {
        use Verdict::*;
        let policy = Policy::default();
        let cases: &[(&[RecordedOutcome], &str)] = &[
            (&[], "new"),
            (&[outcome(Passed, 2, 0)], "changed"),
            (&[outcome(Failed, 2, 0)], "changed"),
            (&[outcome(Passed, 1, 7)], "passed"),
            (&[outcome(Failed, 1, 0)], "failed-last"),
            (&[outcome(Crashed, 1, 0)], "failed-last"),
            (&[outcome(TimedOut, 1, 0)], "failed-last"),
            (&[outcome(Failed, 2, 0), outcome(Passed, 1, 1)], "failed-recently"),
            (&[outcome(Passed, 1, 0), outcome(Failed, 2, 9)], "failed-recently"),
            (&[outcome(Passed, 1, 0), outcome(Failed, 2, 10)], "passed"),
            (&[outcome(Failed, 2, 30), outcome(Passed, 1, 31)], "failed-recently"),
            (&[outcome(Passed, 1, 0), outcome(Failed, 1, 40)], "flaky"),
            (&[outcome(Skipped, 1, 0)], "inconclusive"),
            (&[outcome(Excluded, 1, 0), outcome(Failed, 2, 1)], "excluded"),
            (&[outcome(Excluded, 2, 0)], "changed"),
            (&[outcome(Excluded, 1, 0), outcome(Failed, 1, 1)], "failed-last"),
            (&[outcome(Inconclusive, 1, 0), outcome(Excluded, 1, 1)], "inconclusive"),
            (&[outcome(Inconclusive, 1, 0), outcome(Passed, 1, 1)], "passed"),
            (&[outcome(Inconclusive, 1, 0), outcome(Passed, 2, 1)], "inconclusive"),
        ];
        for (outcomes, expected) in cases {
            assert_eq!(reason(outcomes, &policy), *expected, "{outcomes:?}");
        }
    }

    #[test]
    fn a_pass_here_with_the_same_content_ends_the_memory_of_a_failure() {
        use Verdict::*;
        let at = |outcome: RecordedOutcome, at: &str| RecordedOutcome { at: at.to_string(), ..outcome };
        let here = Policy { machine: "here".to_string(), ..Policy::default() };
        let elsewhere = Policy { machine: "elsewhere".to_string(), ..Policy::default() };
        let mended = [at(outcome(Passed, 1, 0), "2026-11-15T20:16:00Z"), outcome(Failed, 2, 1)];
        assert_eq!(reason(&mended, &here), "passed");
        assert_eq!(reason(&mended, &elsewhere), "failed-recently");
        let within_a_second = [outcome(Passed, 1, 0), outcome(Failed, 2, 1)];
        assert_eq!(reason(&within_a_second, &here), "passed");
        let reverted = [outcome(Failed, 2, 0), at(outcome(Passed, 1, 1), "2026-11-15T20:15:00Z")];
        assert_eq!(reason(&reverted, &here), "failed-recently");
        let passed_elsewise = [outcome(Skipped, 1, 0), outcome(Failed, 2, 1), outcome(Passed, 1, 2)];
        assert_eq!(reason(&passed_elsewise, &here), "failed-recently");
    }

    #[test]
    fn a_remembered_failure_says_until_when() {
        let failure = outcome(Verdict::Failed, 2, 3);
        let text = |states_left| Reason::FailedRecently { failure: failure.clone(), states_left }.to_string();
        let until = "it failed 3 recorded state(s) ago; it runs until it passes here with this content";
        assert_eq!(text(0), until);
        assert_eq!(text(7), format!("{until}, or for 7 more recorded state(s) (failure-memory)"));
    }

    #[test]
    fn a_strategy_adds_to_what_is_known_and_leaves_out_only_what_it_vouches_for() {
        use Verdict::*;
        let choice = |selected: bool, unaffected: Option<&str>| Policy {
            scope: Scope::Strategy(StrategyChoice {
                strategy: "s1",
                selected: selected
                    .then(|| (TestId::new("t", "S.N"), "it differs".into()))
                    .into_iter()
                    .collect(),
                unaffected: unaffected.map(str::to_string),
            }),
            ..Policy::default()
        };
        let (passed, failed) = ([outcome(Passed, 1, 20)], [outcome(Failed, 1, 0)]);
        for (outcomes, selected, unaffected, expected) in [
            (&passed[..], true, None, "selected"),
            (&passed, false, None, "passed"),
            (&passed, false, Some("vouched for"), "passed"),
            (&failed, false, Some("vouched for"), "failed-last"),
            (&[outcome(Skipped, 1, 0)], true, None, "inconclusive"),
            (&[], false, None, "new"),
            (&[], false, Some("vouched for"), "unaffected"),
        ] {
            assert_eq!(reason(outcomes, &choice(selected, unaffected)), expected, "{outcomes:?} {selected}");
        }
        let everything = Policy { scope: Scope::Everything { cause: "shallow".into() }, ..Policy::default() };
        assert_eq!(reason(&passed, &everything), "everything");
    }

    #[test]
    fn a_reduced_suite_leaves_out_what_is_selected_but_no_known_failure() {
        use Verdict::*;
        let (id, keeper) = (TestId::new("t", "S.N"), TestId::new("t", "S.K"));
        let redundant = BTreeMap::from([(id.clone(), vec![keeper])]);
        for (outcomes, expected) in [
            (vec![], "redundant"),
            (vec![outcome(Passed, 2, 0)], "redundant"),
            (vec![outcome(Passed, 1, 0)], "passed"),
            (vec![outcome(Failed, 1, 0)], "failed-last"),
            (vec![outcome(Passed, 1, 0), outcome(Failed, 1, 1)], "flaky"),
        ] {
            let record = TestRecord {
                same_fingerprint: outcomes.iter().filter(|o| o.fingerprint == Digest(1)).cloned().collect(),
                last: outcomes.first().cloned(),
                last_failure: outcomes.iter().find(|o| o.verdict.is_failure()).cloned(),
            };
            let candidate = Candidate {
                id: id.clone(),
                fingerprint: Digest(1),
                mapping: Mapping::Mapped,
                disabled: false,
            };
            let mut plan = plan(vec![candidate], |_| record.clone(), |_| None, &Policy::default());
            let left_out = plan.leave_out(&redundant);
            let test = &plan.tests[0];
            assert_eq!((test.reason.word(), left_out), (expected, usize::from(expected == "redundant")));
            assert_eq!(test.decision == Decision::LeftOut, left_out == 1);
        }
    }

    #[test]
    fn all_and_always_run_what_would_be_reused() {
        let passed = [outcome(Verdict::Passed, 1, 0)];
        let all = Policy { scope: Scope::All, ..Policy::default() };
        assert_eq!(reason(&passed, &all), "all");
        for pattern in ["S.N", "S.*", "t::*", "*"] {
            let always = Patterns::parse(&[pattern.to_string()]).unwrap();
            assert_eq!(reason(&passed, &Policy { always, ..Policy::default() }), "always", "{pattern}");
        }
        let other = Patterns::parse(&["S.M*".to_string()]).unwrap();
        assert_eq!(reason(&passed, &Policy { always: other, ..Policy::default() }), "passed");
    }

    #[test]
    fn an_unmapped_test_runs_with_its_cause_and_a_disabled_one_never() {
        let candidate = |disabled| Candidate {
            id: TestId::new("t", "S.N"),
            fingerprint: Digest(1),
            mapping: Mapping::Unmapped { cause: "no symbol".into() },
            disabled,
        };
        let plan = plan(
            vec![candidate(false), candidate(true)],
            |_| TestRecord::default(),
            |_| None,
            &Policy::default(),
        );
        assert_eq!(plan.tests[0].reason, Reason::Unmapped { cause: "no symbol".into() });
        assert_eq!(plan.tests[1].reason, Reason::Disabled);
        assert_eq!((plan.count(Decision::Run), plan.count(Decision::LeftOut)), (1, 1));
    }
}
