//! `fewer select`: what `fewer run` would run, printed for people, scripts or GoogleTest itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use fewer_core::{Decision, Plan};
use fewer_report::plan_json;

use crate::change;
use crate::cli::{Global, SelectFormat, SelectOptions};
use crate::console::Console;
use crate::current::{Current, Prepared, prepare};
use crate::examination::Starter;
use crate::exit_code::ExitCode;
use crate::names::readable_test;
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, options: &SelectOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open(global, console)?;
    let mut current = match prepare(&session, &options.build, options.all)? {
        Prepared::BuildFailed => {
            session.finish();
            return Ok(ExitCode::BuildFailed);
        }
        Prepared::Ready(current) => current,
    };
    if options.format == SelectFormat::Json || console.is_verbose() {
        let _phase = session.timings.phase("explain");
        change::explain(
            &session.store(),
            &current.graph,
            &mut current.plan,
            change::Since::LastOutcome,
            |_| true,
        );
    }
    for note in &current.notes {
        console.note(note);
    }
    if console.is_verbose() {
        for test in current.plan.with(Decision::Run) {
            console.say(&format!("{}: {}", test.id, readable_test(test).reason));
        }
    }
    let text = match options.format {
        SelectFormat::List => list(&current.plan),
        SelectFormat::Json => plan_json(&current.plan, &current.notes),
        SelectFormat::GtestFilter => gtest_filters(&current),
    };
    console.data(&text)?;
    session.finish();
    Ok(if current.incomplete.is_some() { ExitCode::Setup } else { ExitCode::Green })
}

fn list(plan: &Plan) -> String {
    let mut text = String::new();
    for test in plan.with(Decision::Run) {
        let _ = writeln!(text, "{}", test.id);
    }
    text
}

/// Per program a line: its path below the build directory, a tab, and the filter. Tests that are not of a
/// GoogleTest program have no filter and are left out.
fn gtest_filters(current: &Current) -> String {
    let mut filters: BTreeMap<&str, Vec<(usize, String)>> = BTreeMap::new();
    for test in current.plan.with(Decision::Run) {
        match &current.starters[&test.id] {
            Starter::GoogleTest { order, .. } => {
                filters.entry(&test.id.target).or_default().push((*order, pattern(&test.id.name)));
            }
            Starter::Whole(_) => {
                filters.entry(&test.id.target).or_default().push((0, "*".to_string()));
            }
            Starter::Ctest(_) => {}
        }
    }
    let mut text = String::new();
    for (target, mut patterns) in filters {
        patterns.sort();
        let patterns: Vec<String> = patterns.into_iter().map(|(_, pattern)| pattern).collect();
        let _ = writeln!(text, "{target}\t{}", patterns.join(":"));
    }
    text
}

/// A name as a filter: what has a meaning in filters becomes `?`, which matches any one character.
fn pattern(name: &str) -> String {
    name.chars().map(|character| if "*?:-\n".contains(character) { '?' } else { character }).collect()
}
