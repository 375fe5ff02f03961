//! `fewer status`: what is recorded.

use std::fmt::Write;

use fewer_console::{Console, ExitCode};
use fewer_report::{Table, document};
use fewer_store::{RunStatus, Status};
use serde::Serialize;

use crate::cli::{Format, FormatOptions, Global};
use crate::ranking::left_out_of;
use crate::session::Session;

/// How many flaky tests are listed for people.
const FLAKY_LISTED: usize = 20;

pub fn execute(global: &Global, console: &Console, options: &FormatOptions) -> anyhow::Result<ExitCode> {
    let session = Session::look(global, console)?;
    let view = {
        let _phase = session.timings.phase("read the records");
        let store = session.store();
        let status = store.status()?;
        let state = status.last_run.as_ref().and_then(|run| run.state);
        let left_out = state.map(|state| left_out_of(&store, state)).transpose()?;
        StatusView { status, left_out_of_last_run: left_out.unwrap_or(0) }
    };
    console.data(&match options.format {
        Format::Json => document("fewer-status/1", &view),
        Format::Text => text(&view),
    })?;
    session.finish();
    Ok(ExitCode::Green)
}

/// `fewer-status/1`.
#[derive(Serialize)]
struct StatusView {
    #[serde(flatten)]
    status: Status,
    /// How many tests that may have changed the last run left out, by budget or as redundant.
    left_out_of_last_run: usize,
}

fn text(view: &StatusView) -> String {
    let StatusView { status, left_out_of_last_run } = view;
    let mut table = Table::new(&[false, true]);
    for (name, count) in [
        ("states", status.states),
        ("tests", status.tests),
        ("outcomes", status.outcomes),
        ("runs", status.runs),
        ("unfinished runs", status.unfinished_runs),
    ] {
        table.row([name.to_string(), count.to_string()]);
    }
    table.row(["size".to_string(), bytes(status.bytes)]);
    let mut text = table.text();
    match &status.last_run {
        Some(run) => last_run(&mut text, run, *left_out_of_last_run),
        None => text.push_str("\nnothing has run yet: `fewer run` begins\n"),
    }
    if !status.flaky.is_empty() {
        let _ = writeln!(text, "\nflaky tests (one content, different outcomes):");
        let mut table = Table::new(&[false, true, true, false]);
        for test in status.flaky.iter().take(FLAKY_LISTED) {
            table.row([
                format!("  {}", test.id),
                format!("{} passed", test.passed),
                format!("{} failed", test.failed),
                if test.current { "in the newest state" } else { "" }.to_string(),
            ]);
        }
        text.push_str(&table.text());
        if status.flaky.len() > FLAKY_LISTED {
            let _ = writeln!(text, "  and {} more", status.flaky.len() - FLAKY_LISTED);
        }
    }
    text
}

fn last_run(text: &mut String, run: &RunStatus, left_out: usize) {
    let commit = match (&run.commit, run.dirty) {
        (Some(commit), false) => commit.clone(),
        (Some(commit), true) => format!("{commit} with local changes"),
        (None, _) => "none".to_string(),
    };
    let end = match run.end {
        Some(end) => end.word(),
        None => "not ended (running, or killed)",
    };
    let verdicts: Vec<String> =
        run.verdicts.iter().map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
    let _ = writeln!(text, "\nlast run:");
    for (name, value) in [
        ("command", run.command.clone()),
        ("commit", commit),
        ("started", format!("{:.0}", run.started_at)),
        ("machine", run.machine.clone()),
        ("end", end.to_string()),
        ("outcomes", if verdicts.is_empty() { "none".to_string() } else { verdicts.join(", ") }),
    ] {
        let _ = writeln!(text, "  {name:<9} {value}");
    }
    if left_out > 0 {
        let _ = writeln!(text, "  {:<9} {left_out} that may have changed; `fewer run` runs them", "not run");
    }
}

/// A size, as precise as it is interesting.
pub fn bytes(bytes: u64) -> String {
    let mut amount = bytes as f64;
    let mut units = ["B", "KB", "MB", "GB", "TB"].iter();
    let mut unit = units.next().unwrap_or(&"B");
    while amount >= 1000.0
        && let Some(next) = units.next()
    {
        amount /= 1000.0;
        unit = next;
    }
    if *unit == "B" { format!("{bytes} B") } else { format!("{amount:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_as_precise_as_they_are_interesting() {
        for (size, expected) in [(0, "0 B"), (999, "999 B"), (4096, "4.1 KB"), (12_345_678, "12.3 MB")] {
            assert_eq!(bytes(size), expected);
        }
    }
}
