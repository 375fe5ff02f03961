//! `fewer run`: build, analyse, select, run, record, summarise.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context;
use fewer_console::{Console, ExitCode, Verbosity};
use fewer_core::{Decision, Plan, Reason, TestId, Verdict};
use fewer_report::{
    Counts, RunView, StrategyView, failures_text, junit_xml, left_out_text, plan_text, run_json, summary_text,
};
use fewer_store::{RunInfo, StateId, Store, StoreError};

use crate::change::{self, Since};
use crate::cli::{Format, Global, RunOptions, StrategyName};
use crate::commands::reduce::{self, Leaving};
use crate::current::{Current, Prepared, prepare};
use crate::execution::{Execution, Wishes, execute as execute_tests};
use crate::gain;
use crate::history::{Foretelling, Foretold, Request, UNSAFE, foretell_head};
use crate::names::readable_plan;
use crate::ranking::{self, LEFT_OUT_KIND, Ranking, left_out_part};
use crate::session::Session;
use crate::state::machine;
use crate::vanished;

pub fn execute(global: &Global, console: &Console, options: &RunOptions) -> anyhow::Result<ExitCode> {
    let request = Request::resolve(&options.history, options.all)?;
    let session = Session::open_to_start(global, console)?.seeing(&options.cpp);
    let foretold = match request.without_build() {
        Some(Foretelling::Predict) => Some(foretell_head(&session, Foretelling::Predict)?),
        Some(Foretelling::S0) | None => None,
    };
    let mut current = match prepare(&session, (&options.build).into(), &options.java, &request)? {
        Prepared::BuildFailed => {
            session.finish();
            return Ok(ExitCode::BuildFailed);
        }
        Prepared::Ready(current) => current,
    };
    current.require_ground(&session, options.vanished.allow_vanished)?;
    explain(&session, &mut current, options);
    let foretold = foretold.map(|foretold| comparison(&foretold, &current.plan));
    current.notes.extend(foretold);
    let reduction = reduce::leave_out(&session, &options.reduced, &mut current.plan)?;
    let mut wishes = Wishes { jobs: options.jobs, timeout: options.timeout, ranks: BTreeMap::new() };
    let ranking = ranking::apply(&session, &options.ranking, wishes.workers(&session), &mut current)?;
    wishes.ranks = ranking.as_ref().map_or_else(BTreeMap::new, Ranking::ranks);
    announce(console, &current, options);
    let before = Before::of(&session.store(), &current.plan)?;
    let (current, execution) = record_and_execute(&session, *current, &wishes)?;
    let code = exit_code(&current, &execution);
    let reported = Reported {
        current: &current,
        execution: &execution,
        reduction: reduction.as_ref(),
        ranking: ranking.as_ref(),
    };
    report(&session, &reported, &before, options)?;
    if let Some(problem) = execution.problem {
        return Err(anyhow::Error::new(problem).context("not every outcome could be recorded"));
    }
    session.finish();
    Ok(code)
}

/// What was recorded before this run: its own records tell nothing of what changed.
struct Before {
    newest: Option<StateId>,
    /// Per changed test the state of its last outcome.
    outcomes: BTreeMap<TestId, StateId>,
}

impl Before {
    fn of(store: &Store, plan: &Plan) -> Result<Before, StoreError> {
        let newest = store.latest_state()?.map(|state| state.id);
        let mut outcomes = BTreeMap::new();
        for test in plan.tests.iter().filter(|test| is_unexplained(&test.reason)) {
            outcomes.extend(store.state_of_last_outcome(&test.id)?.map(|state| (test.id.clone(), state)));
        }
        Ok(Before { newest, outcomes })
    }
}

/// What people are told before the tests run.
fn announce(console: &Console, current: &Current, options: &RunOptions) {
    if options.history.is_given() {
        console.note(&current.strategy.to_string());
    }
    for note in &current.notes {
        console.note(note);
    }
    if console.is_verbose() {
        console.say(plan_text(&readable_plan(&current.plan)).trim_end());
    }
}

/// How a prediction made before the build compares with what the fingerprints decide after it.
fn comparison(foretold: &Foretold, plan: &Plan) -> String {
    let running =
        |plan: &Plan| -> BTreeSet<TestId> { plan.with(Decision::Run).map(|test| test.id.clone()).collect() };
    let (predicted, decided) = (running(&foretold.plan), running(plan));
    let overlooked: Vec<String> = decided.difference(&predicted).take(5).map(TestId::to_string).collect();
    let mut text = format!(
        "predict foretold {} test(s) before the build ({}); after it the fingerprints select {}",
        predicted.len(),
        foretold.because,
        decided.len()
    );
    if !overlooked.is_empty() {
        text.push_str(&format!(", among them some that were not foretold: {}", overlooked.join(", ")));
    }
    text
}

/// Paths to changes cost time: only where they are shown for every test.
fn explain(session: &Session<'_>, current: &mut Current, options: &RunOptions) {
    if options.format == Format::Json || session.console.is_verbose() {
        let _phase = session.timings.phase("explain");
        let (graph, plan) = (&current.graph, &mut current.plan);
        change::explain(&session.store(), graph, plan, Since::LastOutcome, change::LISTED, |_| true);
    }
}

fn record_and_execute(
    session: &Session<'_>,
    mut current: Current,
    wishes: &Wishes,
) -> anyhow::Result<(Current, Execution)> {
    let run = {
        let _phase = session.timings.phase("record the state");
        let store = session.store();
        let mut manifest = std::mem::take(&mut current.manifest);
        if let Some((key, tests)) = left_out_part(&current.plan) {
            manifest.keep(LEFT_OUT_KIND, "", key, tests);
        }
        let state = manifest
            .record(&store, &current.state, current.snapshot.clone())
            .context("cannot record the state that the tests run in")?;
        store.begin_run(state, &RunInfo::now(machine(), command_line()))?
    };
    vanished::settle(&session.project);
    let execution = execute_tests(session, &current, run, wishes);
    Ok((current, execution))
}

fn command_line() -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    ["fewer".to_string()].into_iter().chain(arguments).collect::<Vec<_>>().join(" ")
}

fn exit_code(current: &Current, execution: &Execution) -> ExitCode {
    let is_bad = |verdict: Verdict| verdict.is_failure() || verdict == Verdict::Inconclusive;
    if execution.interrupted {
        ExitCode::Interrupted
    } else if !execution.process_failures.is_empty()
        || execution.results.values().any(|result| is_bad(result.verdict))
        || current.plan.with(Decision::Run).any(|test| !execution.results.contains_key(&test.id))
    {
        ExitCode::TestFailed
    } else if current.incomplete.is_some() {
        ExitCode::Setup
    } else {
        ExitCode::Green
    }
}

/// What a report is about.
struct Reported<'r> {
    current: &'r Current,
    execution: &'r Execution,
    reduction: Option<&'r Leaving>,
    ranking: Option<&'r Ranking>,
}

fn report(
    session: &Session<'_>,
    reported: &Reported<'_>,
    before: &Before,
    options: &RunOptions,
) -> anyhow::Result<()> {
    let Reported { current, execution, reduction, ranking } = *reported;
    let mut notes = current.notes.clone();
    notes.extend(execution.notes.iter().cloned());
    execution.notes.iter().for_each(|note| session.console.note(note));
    let plan = explained_failures(session, current, execution, before);
    let timings = session.timings.phases();
    let spent_s = session.timings.total_s();
    let view = RunView {
        plan: &current.plan,
        strategy: &current.strategy,
        ranking: ranking.map(|ranking| &ranking.view),
        results: &execution.results,
        process_failures: &execution.process_failures,
        notes: &notes,
        timings: &timings,
        counts: counts(&current.plan, execution),
        spent_s,
        saved: gain::saved(current, &execution.results, &timings, spent_s),
        interrupted: execution.interrupted,
    };
    if let Some(path) = &options.junit {
        fs::write(path, junit_xml(&view)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    // The summary calls disabled what is left out; a reduced suite and a budget speak for themselves.
    let redundant = reduction.map_or(0, |reduction| reduction.left_out);
    let over_budget = ranking.map_or(0, |ranking| ranking.view.left_out.len());
    let counts = Counts { left_out: view.counts.left_out - redundant - over_budget, ..view.counts };
    let shown = RunView { plan: &plan, notes: &notes, timings: &timings, counts, ..view };
    let mut text = failures_text(&shown);
    if session.console.verbosity() > Verbosity::Quiet {
        text.push_str(&summary_text(&shown));
        text.push_str(&reduction.map_or_else(String::new, Leaving::text));
        text.push_str(&warning(&current.strategy));
        if !execution.interrupted {
            text.push_str(&gain::nearly_everything(session, current, Since::State(before.newest)));
        }
        text.push_str(&hint(&shown));
    }
    if let Some(ranking) = ranking {
        text.push_str(&left_out_text(&ranking.view, session.console.is_verbose()));
    }
    match options.format {
        Format::Text => session.console.data(&text),
        Format::Json => {
            if !text.is_empty() {
                session.console.insist(text.trim_end());
            }
            let document = run_json(&view);
            session.console.data(&match reduction {
                Some(reduction) => reduction.within(&document)?,
                None => document,
            })
        }
    }
}

/// The plan for people, with the paths to the changes of the tests that failed.
fn explained_failures(
    session: &Session<'_>,
    current: &Current,
    execution: &Execution,
    before: &Before,
) -> Plan {
    let mut plan = current.plan.clone();
    let is_failed = |id: &_| execution.results.get(id).is_some_and(|result| result.verdict.is_failure());
    // What the state before does not tell, as it left the test out, the one of the last outcome does.
    for since in [Since::State(before.newest), Since::Before(&before.outcomes)] {
        let open = plan.tests.iter().filter(|test| is_unexplained(&test.reason) && is_failed(&test.id));
        let open: BTreeSet<TestId> = open.map(|test| test.id.clone()).collect();
        if !open.is_empty() && !execution.interrupted {
            let _phase = session.timings.phase("explain");
            let is_open = |id: &TestId| open.contains(id);
            change::explain(&session.store(), &current.graph, &mut plan, since, change::LISTED, is_open);
        }
    }
    readable_plan(&plan)
}

fn is_unexplained(reason: &Reason) -> bool {
    matches!(reason, Reason::Changed { because: None, .. })
}

/// Beside the figures, where nobody can miss it.
fn warning(strategy: &StrategyView) -> String {
    if strategy.name == StrategyName::S0.word() { format!("{UNSAFE}\n") } else { String::new() }
}

fn hint(view: &RunView<'_>) -> String {
    let failed = view
        .plan
        .with(Decision::Run)
        .find(|test| view.results.get(&test.id).is_some_and(|result| result.verdict.is_failure()));
    match failed {
        Some(test) => format!("`fewer why {}` tells more\n", test.id),
        None => String::new(),
    }
}

fn counts(plan: &Plan, execution: &Execution) -> Counts {
    let mut counts = Counts {
        total: plan.tests.len(),
        run: plan.count(Decision::Run),
        reuse: plan.count(Decision::Reuse),
        left_out: plan.count(Decision::LeftOut),
        ..Counts::default()
    };
    for result in execution.results.values() {
        match result.verdict {
            Verdict::Passed => counts.passed += 1,
            Verdict::Failed | Verdict::Crashed | Verdict::TimedOut => counts.failed += 1,
            Verdict::Skipped => counts.skipped += 1,
            Verdict::Excluded => counts.excluded += 1,
            Verdict::Inconclusive => counts.inconclusive += 1,
        }
    }
    counts
}
