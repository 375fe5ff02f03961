//! The documents that scripts rely on: each carries a `format` with a version. Fields may be added within a
//! version, never renamed or removed.

use fewer_core::{Decision, ElementChange, PlannedTest, RecordedOutcome, TestId, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::view::{
    AffectedView, Counts, InputView, Phase, ProcessFailureView, RankingView, RunView, StrategyView, WhyView,
};

/// Any serialisable body (an object) with its format in front.
///
/// Example: `document("fewer-status/1", &status)`.
pub fn document(format: &str, body: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Document<'a, T> {
        format: &'a str,
        #[serde(flatten)]
        body: &'a T,
    }
    let document = Document { format, body };
    let mut text =
        serde_json::to_string_pretty(&document).expect("reports have text keys and no failing parts");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct TestDocument<'a> {
    id: &'a TestId,
    decision: Decision,
    reason: &'static str,
    evidence: Value,
}

/// `fewer-plan/1`.
pub fn plan_json(plan: &fewer_core::Plan, strategy: &StrategyView, notes: &[String]) -> String {
    #[derive(Serialize)]
    struct Summary {
        total: usize,
        run: usize,
        reuse: usize,
        left_out: usize,
    }
    #[derive(Serialize)]
    struct Body<'a> {
        tests: Vec<TestDocument<'a>>,
        summary: Summary,
        strategy: &'a StrategyView,
        notes: &'a [String],
    }
    let body = Body {
        strategy,
        tests: plan.tests.iter().map(planned).collect(),
        summary: Summary {
            total: plan.tests.len(),
            run: plan.count(Decision::Run),
            reuse: plan.count(Decision::Reuse),
            left_out: plan.count(Decision::LeftOut),
        },
        notes,
    };
    document("fewer-plan/1", &body)
}

/// `fewer-run/1`: the plan, and per test its outcome and the seconds it took in this run. A reused test has passed
/// and took no time; a test that is left out or that was not reached has neither.
pub fn run_json(view: &RunView<'_>) -> String {
    #[derive(Serialize)]
    struct RunTest<'a> {
        #[serde(flatten)]
        test: TestDocument<'a>,
        outcome: Option<Verdict>,
        duration_s: Option<f64>,
    }
    #[derive(Serialize)]
    struct Body<'a> {
        tests: Vec<RunTest<'a>>,
        summary: Counts,
        strategy: &'a StrategyView,
        #[serde(skip_serializing_if = "Option::is_none")]
        ranking: Option<&'a RankingView>,
        process_failures: &'a [ProcessFailureView],
        interrupted: bool,
        notes: &'a [String],
        timings: &'a [Phase],
        spent_s: f64,
        saved_s: f64,
        saved_gross_s: f64,
        own_s: f64,
    }
    let run_test = |test| {
        let (outcome, duration_s) = outcome(view, test);
        RunTest { test: planned(test), outcome, duration_s }
    };
    let body = Body {
        tests: view.plan.tests.iter().map(run_test).collect(),
        summary: view.counts,
        strategy: view.strategy,
        ranking: view.ranking,
        process_failures: view.process_failures,
        interrupted: view.interrupted,
        notes: view.notes,
        timings: view.timings,
        spent_s: view.spent_s,
        saved_s: view.saved.net_s(),
        saved_gross_s: view.saved.gross_s,
        own_s: view.saved.own_s,
    };
    document("fewer-run/1", &body)
}

fn outcome(view: &RunView<'_>, test: &PlannedTest) -> (Option<Verdict>, Option<f64>) {
    match (test.decision, view.results.get(&test.id)) {
        (_, Some(result)) => (Some(result.verdict), Some(result.duration_s)),
        (Decision::Reuse, None) => (Some(Verdict::Passed), Some(0.0)),
        (Decision::Run | Decision::LeftOut, None) => (None, None),
    }
}

/// `fewer-why/1`.
pub fn why_json(view: &WhyView<'_>) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        id: &'a TestId,
        decision: Decision,
        reason: &'static str,
        path: &'a [String],
        changed: &'a [ElementChange],
        changed_left_out: usize,
        reused_from: Option<&'a RecordedOutcome>,
    }
    let body = Body {
        id: &view.test.id,
        decision: view.test.decision,
        reason: view.test.reason.word(),
        path: view.path,
        changed: view.changed,
        changed_left_out: view.changed_left_out,
        reused_from: view.reused_from,
    };
    document("fewer-why/1", &body)
}

/// `fewer-affected/1`.
pub fn affected_json(view: &AffectedView<'_>) -> String {
    #[derive(Serialize)]
    struct Summary {
        tests: usize,
    }
    #[derive(Serialize)]
    struct Body<'a> {
        inputs: &'a [InputView],
        tests: &'a [TestId],
        summary: Summary,
        notes: &'a [String],
    }
    let summary = Summary { tests: view.tests.len() };
    document("fewer-affected/1", &Body { inputs: view.inputs, tests: view.tests, summary, notes: view.notes })
}

fn planned(test: &PlannedTest) -> TestDocument<'_> {
    let evidence = match serde_json::to_value(&test.reason) {
        Ok(Value::Object(mut fields)) => fields.remove("evidence").unwrap_or(Value::Null),
        Ok(_) | Err(_) => Value::Null,
    };
    TestDocument { id: &test.id, decision: test.decision, reason: test.reason.word(), evidence }
}
