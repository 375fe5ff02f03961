//! `fewer why TEST`: the path to the change, or the evidence for skipping.

use fewer_console::{Console, ExitCode};
use fewer_core::{ElementChange, Explanation, PlannedTest, Reason, RecordedOutcome};
use fewer_report::{WhyView, why_json, why_text};

use crate::change;
use crate::cli::{Building, Format, Global, WhyOptions};
use crate::current::{Prepared, prepare};
use crate::history::Request;
use crate::names::{readable_test, resolve};
use crate::session::Session;

/// How many changes are listed; the rest is a number.
const LISTED_CHANGES: usize = 1000;

pub fn execute(global: &Global, console: &Console, options: &WhyOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open_to_start(global, console)?.seeing(&options.cpp);
    let building = Building { builds: false, trusts: options.trust_build };
    let mut current = match prepare(&session, building, &options.java, &Request::default())? {
        Prepared::BuildFailed => {
            session.finish();
            return Ok(ExitCode::BuildFailed);
        }
        Prepared::Ready(current) => current,
    };
    let id = resolve(&current.plan.tests, &options.test)?.id.clone();
    {
        let _phase = session.timings.phase("explain");
        change::explain(
            &session.store(),
            &current.graph,
            &mut current.plan,
            change::Since::LastOutcome,
            LISTED_CHANGES,
            |test| *test == id,
        );
    }
    let Some(test) = current.plan.tests.iter().find(|test| test.id == id) else {
        unreachable!("the test was resolved from this plan");
    };
    let last_output = match last_failure(&test.reason) {
        Some(failure) => session.store().last_output(&id, failure.fingerprint)?,
        None => None,
    };
    for note in &current.notes {
        if console.is_verbose() || note.starts_with(&id.target) {
            console.note(note);
        }
    }
    let text = match options.format {
        Format::Text => {
            let test = readable_test(test);
            why_text(&view(&test, last_output.as_deref()))
        }
        Format::Json => why_json(&view(test, last_output.as_deref())),
    };
    console.data(&text)?;
    session.finish();
    Ok(ExitCode::Green)
}

fn view<'a>(test: &'a PlannedTest, last_output: Option<&'a str>) -> WhyView<'a> {
    let explanation = match &test.reason {
        Reason::Changed { because, .. } => because.as_ref(),
        Reason::New
        | Reason::FailedLast { .. }
        | Reason::FailedRecently { .. }
        | Reason::Flaky { .. }
        | Reason::Inconclusive { .. }
        | Reason::Always { .. }
        | Reason::Unmapped { .. }
        | Reason::All
        | Reason::Everything { .. }
        | Reason::Selected { .. }
        | Reason::Passed { .. }
        | Reason::Unaffected { .. }
        | Reason::Disabled
        | Reason::Excluded { .. }
        | Reason::Redundant { .. }
        | Reason::Budget { .. } => None,
    };
    let (path, changed, changed_left_out): (&[String], &[ElementChange], usize) = match explanation {
        Some(Explanation { path, changed, changed_left_out }) => (path, changed, *changed_left_out),
        None => (&[], &[], 0),
    };
    let reused_from = if let Reason::Passed { from } = &test.reason { Some(from) } else { None };
    WhyView { test, path, changed, changed_left_out, reused_from, last_output }
}

/// The failure that makes the test run again.
fn last_failure(reason: &Reason) -> Option<&RecordedOutcome> {
    match reason {
        Reason::FailedLast { last } => Some(last),
        Reason::FailedRecently { failure, .. } => Some(failure),
        Reason::Flaky { failed, .. } => Some(failed),
        Reason::New
        | Reason::Changed { .. }
        | Reason::Inconclusive { .. }
        | Reason::Always { .. }
        | Reason::Unmapped { .. }
        | Reason::All
        | Reason::Everything { .. }
        | Reason::Selected { .. }
        | Reason::Passed { .. }
        | Reason::Unaffected { .. }
        | Reason::Disabled
        | Reason::Excluded { .. }
        | Reason::Redundant { .. }
        | Reason::Budget { .. } => None,
    }
}
