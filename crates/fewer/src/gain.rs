//! What a run gained: the time that reused tests would have taken, less what fewer itself took; and where it gained next to
//! nothing, why, and what to do about it.

use std::collections::BTreeMap;

use fewer_core::{Decision, Plan, PlannedTest, Reason, TestId};
use fewer_report::{Phase, ResultView, SavedView};

use crate::change::{self, Since};
use crate::current::Current;
use crate::examination::Starter;
use crate::names::readable_test;
use crate::session::Session;

/// Phases that would take the same time without fewer.
const OTHERS_WORK: [&str; 2] = ["build", "run tests"];
/// A run of fewer tests is over before anybody asks why.
const MANY: usize = 5;

/// The time that a run saved and cost.
pub fn saved(
    current: &Current,
    results: &BTreeMap<TestId, ResultView>,
    timings: &[Phase],
    spent_s: f64,
) -> SavedView {
    let others = timings.iter().filter(|phase| OTHERS_WORK.contains(&phase.phase.as_str()));
    let is_documentation = |id: &TestId| matches!(current.starters.get(id), Some(Starter::Documentation(_)));
    let documentation = results.iter().filter(|(id, _)| is_documentation(id));
    SavedView {
        gross_s: current.plan.tests.iter().filter_map(|test| reused_s(&test.reason)).sum(),
        own_s: (spent_s - others.map(|phase| phase.seconds).sum::<f64>()).max(0.0),
        documentation_s: documentation.map(|(_, result)| result.duration_s).sum(),
    }
}

/// How long a reused test took when it ran.
fn reused_s(reason: &Reason) -> Option<f64> {
    match reason {
        Reason::Passed { from } => Some(from.duration_s),
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
        | Reason::Selected { .. }
        | Reason::Unaffected { .. }
        | Reason::Disabled
        | Reason::Excluded { .. }
        | Reason::Redundant { .. }
        | Reason::Budget { .. } => None,
    }
}

/// Why nearly every test was selected, and what mends it, in one line; empty where that is not so, or what was asked for.
pub fn nearly_everything(session: &Session<'_>, current: &Current, since: Since) -> String {
    let plan = &current.plan;
    let (run, all) = (plan.count(Decision::Run), plan.count(Decision::Run) + plan.count(Decision::Reuse));
    if run < MANY || run * 10 < all * 9 {
        return String::new();
    }
    match main_cause(session, current, since) {
        Some(cause) => format!("nearly everything ran ({run} of {all}): {cause}\n"),
        None => String::new(),
    }
}

/// What most of the tests run for, with the command that mends it.
fn main_cause(session: &Session<'_>, current: &Current, since: Since) -> Option<String> {
    let mut by_word: BTreeMap<&str, Vec<&PlannedTest>> = BTreeMap::new();
    for test in current.plan.with(Decision::Run) {
        by_word.entry(test.reason.word()).or_default().push(test);
    }
    let most = by_word.into_values().max_by_key(Vec::len)?;
    let first = *most.first()?;
    match &first.reason {
        // The cause says what to do.
        Reason::Everything { cause } => Some(cause.clone()),
        Reason::Unmapped { cause } => Some(format!(
            "of {} tests it is not seen what they reach, such as {}: {cause}; `fewer doctor` tells how to mend it",
            most.len(),
            first.id
        )),
        Reason::Changed { .. } => Some(format!(
            "what {} tests reach changed, such as {}: {}; `fewer doctor` tells how to select fewer",
            most.len(),
            first.id,
            explained(session, current, first, since)
        )),
        Reason::New
        | Reason::FailedLast { .. }
        | Reason::FailedRecently { .. }
        | Reason::Flaky { .. }
        | Reason::Inconclusive { .. }
        | Reason::Always { .. }
        | Reason::All
        | Reason::Selected { .. }
        | Reason::Passed { .. }
        | Reason::Unaffected { .. }
        | Reason::Disabled
        | Reason::Excluded { .. }
        | Reason::Redundant { .. }
        | Reason::Budget { .. } => None,
    }
}

/// The change that one test runs for.
fn explained(session: &Session<'_>, current: &Current, test: &PlannedTest, since: Since) -> Reason {
    let mut plan = Plan { tests: vec![test.clone()] };
    if matches!(test.reason, Reason::Changed { because: None, .. }) {
        let _phase = session.timings.phase("explain");
        change::explain(&session.store(), &current.graph, &mut plan, since, change::LISTED, |_| true);
    }
    plan.tests.first().map_or_else(|| test.reason.clone(), |test| readable_test(test).reason)
}
