//! Plans, runs and explanations for people at a terminal.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;

use fewer_core::{Decision, Plan, PlannedTest, Reason, RecordedOutcome, TestId, Verdict};

use crate::style::{Tone, paint};
use crate::view::{Counts, RankingView, ResultView, RunView, SavedView, WhyView};

/// How many lines of a failing test's output are shown; the rest is one `fewer why` away.
const OUTPUT_LINES: usize = 60;
/// How much of a line is shown; documents have all of it.
const LINE_CHARACTERS: usize = 500;
/// How many changed elements an explanation names.
const CHANGES_NAMED: usize = 10;
/// How many tests that were left out are listed, unless all are wanted.
const LEFT_OUT_LISTED: usize = 50;

/// Every test that would run, with its reason, sorted.
pub fn plan_text(plan: &Plan) -> String {
    let mut text = String::new();
    for test in plan.with(Decision::Run) {
        let _ = writeln!(text, "{}  {}", test.id, paint(Tone::Faint, &test.reason.to_string()));
    }
    text
}

/// The failing tests with what they printed, then processes that failed on their own.
pub fn failures_text(view: &RunView<'_>) -> String {
    let mut text = String::new();
    let mut shown: HashMap<(&str, &str), &TestId> = HashMap::new();
    for test in view.plan.with(Decision::Run) {
        let Some(result) = view.results.get(&test.id) else { continue };
        if !result.verdict.is_failure() && result.verdict != Verdict::Inconclusive {
            continue;
        }
        match shown.entry((&test.id.target, &result.output_tail)) {
            Entry::Vacant(entry) => {
                entry.insert(&test.id);
                failure(&mut text, test, result);
            }
            // A program that dies at its start fails all its tests in the same words.
            Entry::Occupied(first) => {
                let heading = heading(test, result);
                let _ = writeln!(text, "{heading}\n    the same output as {}\n", first.get());
            }
        }
    }
    for process in view.process_failures {
        let _ = writeln!(text, "{} {}", paint(Tone::Bad, "PROCESS FAILED"), process.target);
        indent(&mut text, &process.explanation);
        indent(&mut text, &last_lines(&process.output_tail));
        text.push('\n');
    }
    text
}

fn heading(test: &PlannedTest, result: &ResultView) -> String {
    let word = result.verdict.word().to_uppercase();
    let time = paint(Tone::Faint, &format!("({})", seconds(result.duration_s)));
    format!("{} {} {time}", paint(Tone::Bad, &word), test.id)
}

fn failure(text: &mut String, test: &PlannedTest, result: &ResultView) {
    let _ = writeln!(text, "{}", heading(test, result));
    indent(text, &last_lines(&result.output_tail));
    if let Some(message) = &result.message {
        // The framework prints the same text behind a first line of its own.
        let body = message.split_once('\n').map_or(message.as_str(), |(_, body)| body);
        if !result.output_tail.contains(body.trim()) {
            indent(text, message);
        }
    }
    let because = format!("it ran because: {}", test.reason);
    let _ = writeln!(text, "    {}\n", paint(Tone::Faint, &shortened(&because)));
}

/// The one summary at the end of a run.
pub fn summary_text(view: &RunView<'_>) -> String {
    let Counts { run, reuse, passed, failed, skipped, excluded, inconclusive, .. } = view.counts;
    let ran = passed + failed + skipped + inconclusive;
    let mut parts: Vec<String> = Vec::new();
    if ran > 0 {
        let mut kinds = Vec::new();
        let kind_of =
            |count: usize, word: &str, tone| (count > 0).then(|| paint(tone, &format!("{count} {word}")));
        kinds.extend(kind_of(passed, "passed", Tone::Good));
        kinds.extend(kind_of(failed, "failed", Tone::Bad));
        kinds.extend(kind_of(skipped, "skipped", Tone::Warning));
        kinds.extend(kind_of(inconclusive, "inconclusive", Tone::Bad));
        parts.push(format!("{ran} ran ({})", kinds.join(", ")));
    } else {
        parts.push("0 ran".to_string());
    }
    if ran + excluded < run {
        parts.push(paint(Tone::Bad, &format!("{} not run", run - ran - excluded)));
    }
    parts.push(format!("{reuse} reused"));
    let was_excluded = |test: &&PlannedTest| matches!(test.reason, Reason::Excluded { .. });
    let known = view.plan.tests.iter().filter(was_excluded).count();
    let disabled = view.counts.left_out.saturating_sub(known);
    if disabled > 0 {
        parts.push(format!("{disabled} left out (disabled)"));
    }
    if excluded + known > 0 {
        parts.push(format!("{} left out by the build", excluded + known));
    }
    let mut text = format!("{} in {}", parts.join(", "), seconds(view.spent_s));
    if reuse > 0 {
        text.push_str(&saved_text(&view.saved));
    }
    text.push('\n');
    if view.interrupted {
        let _ = writeln!(text, "interrupted: what had ended is recorded, run again for the rest");
    }
    text
}

/// What was gained, and if that is nothing or little, why.
fn saved_text(saved: &SavedView) -> String {
    let (net, gross, own) = (saved.net_s(), seconds(saved.gross_s), seconds(saved.own_s));
    let mut text = if net > 0.0 {
        format!("; about {} saved", seconds(net))
    } else {
        format!("; nothing saved: what was reused takes {gross}, and fewer itself took {own}")
    };
    if saved.documentation_s > net.max(0.0) {
        let _ =
            write!(text, "; documentation tests, which always run, took {}", seconds(saved.documentation_s));
    }
    text
}

/// What a ranking left out, so that nobody takes the run for a safe one; empty where that is nothing.
pub fn left_out_text(ranking: &RankingView, lists_all: bool) -> String {
    let (all, left_out) = (ranking.order.len(), &ranking.left_out);
    if left_out.is_empty() {
        return String::new();
    }
    let (tests, were, them) =
        if left_out.len() == 1 { ("test", "was", "it") } else { ("tests", "were", "them") };
    let warning = format!("{} {tests} that may have changed {were} not run, by budget", left_out.len());
    let mut text = format!("{}; `fewer run` without a budget runs {them}:\n", paint(Tone::Warning, &warning));
    let listed = if lists_all { left_out.len() } else { LEFT_OUT_LISTED };
    let first = all - left_out.len() + 1;
    for (rank, test) in (first..).zip(left_out).take(listed) {
        let mark = paint(Tone::Faint, &format!("not run, by budget: ranked {rank} of {all}"));
        let _ = writeln!(text, "  {test}  {mark}");
    }
    if left_out.len() > listed {
        let _ = writeln!(text, "  and {} more: -v lists all", left_out.len() - listed);
    }
    text
}

/// The decision about one test, and what it rests on.
pub fn why_text(view: &WhyView<'_>) -> String {
    let test = view.test;
    let mut text = format!("{}\n", paint(Tone::Strong, &test.id.to_string()));
    let decision = match test.decision {
        Decision::Run => paint(Tone::Warning, "runs"),
        Decision::Reuse => paint(Tone::Good, "is reused"),
        Decision::LeftOut => paint(Tone::Faint, "is left out"),
    };
    let _ = writeln!(text, "{decision}: {}", test.reason);
    path(&mut text, view.path);
    changes(&mut text, view);
    if let Some(outcome) = view.reused_from {
        let _ = writeln!(text, "\nthe outcome it reuses:");
        text.push_str(&evidence_text(outcome));
    } else if let Reason::Changed { last, .. } = &test.reason {
        let _ = writeln!(text, "\nits last outcome, with other content:");
        text.push_str(&evidence_text(last));
    }
    if let Some(output) = view.last_output.filter(|output| !output.trim().is_empty()) {
        let _ = writeln!(text, "\nwhat it printed when it last failed so:");
        indent(&mut text, &last_lines(output));
    }
    text
}

/// Where an outcome comes from, one fact per line.
pub fn evidence_text(outcome: &RecordedOutcome) -> String {
    let commit = match (&outcome.commit, outcome.dirty) {
        (Some(commit), false) => commit.clone(),
        (Some(commit), true) => format!("{commit} with local changes"),
        (None, _) => "none (not in git)".to_string(),
    };
    let mut text = String::new();
    for (name, value) in [
        ("verdict", outcome.verdict.word().to_string()),
        ("commit", commit),
        ("time", outcome.at.clone()),
        ("machine", outcome.machine.clone()),
        ("duration", seconds(outcome.duration_s)),
        ("content", outcome.fingerprint.to_string()),
    ] {
        let _ = writeln!(text, "  {name:<9} {value}");
    }
    text
}

/// A time, as precise as it is interesting.
pub fn seconds(seconds: f64) -> String {
    if seconds < 0.0995 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 9.95 {
        format!("{seconds:.1} s")
    } else if seconds < 119.5 {
        format!("{seconds:.0} s")
    } else {
        format!("{} min {:.0} s", (seconds / 60.0) as u64, seconds % 60.0)
    }
}

fn path(text: &mut String, elements: &[String]) {
    if elements.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nthe way from the test to the change:");
    for (depth, element) in elements.iter().enumerate() {
        let arrow = if depth == 0 { "" } else { "-> " };
        let _ = writeln!(text, "  {}{arrow}{element}", "  ".repeat(depth.min(12)));
    }
}

fn changes(text: &mut String, view: &WhyView<'_>) {
    if view.changed.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nwhat changed in its reach:");
    for change in view.changed.iter().take(CHANGES_NAMED) {
        let _ = writeln!(text, "  {change}");
    }
    let more = view.changed.len().saturating_sub(CHANGES_NAMED) + view.changed_left_out;
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(OUTPUT_LINES);
    let mut text = if left_out > 0 { format!("... {left_out} lines before\n") } else { String::new() };
    text.push_str(&lines[left_out..].join("\n"));
    text
}

fn indent(text: &mut String, block: &str) {
    for line in block.lines() {
        let _ = writeln!(text, "    {}", shortened(line));
    }
}

/// A value of any length may be printed on one line.
fn shortened(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(LINE_CHARACTERS) {
        Some((end, _)) => {
            let more = line[end..].chars().count();
            format!("{} ... and {more} more characters: --format json has them", &line[..end]).into()
        }
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_precise_as_they_are_interesting() {
        let cases =
            [(0.0004, "0 ms"), (0.012, "12 ms"), (1.34, "1.3 s"), (59.6, "60 s"), (754.0, "12 min 34 s")];
        for (time, expected) in cases {
            assert_eq!(seconds(time), expected);
        }
    }

    #[test]
    fn what_is_saved_is_net_and_nothing_is_called_nothing() {
        for (gross_s, own_s, documentation_s, expected) in [
            (12.0, 2.0, 0.0, "; about 10 s saved"),
            (1.0, 3.0, 0.0, "; nothing saved: what was reused takes 1.0 s, and fewer itself took 3.0 s"),
            (2.0, 1.0, 40.0, "; about 1.0 s saved; documentation tests, which always run, took 40 s"),
        ] {
            assert_eq!(saved_text(&SavedView { gross_s, own_s, documentation_s }), expected);
        }
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        assert_eq!(shortened(&"é".repeat(500)), "é".repeat(500));
        let long = format!("{}{}", "é".repeat(500), "x".repeat(70_000));
        let shown = format!("{} ... and 70000 more characters: --format json has them", "é".repeat(500));
        assert_eq!(shortened(&long), shown);
        let mut text = String::new();
        indent(&mut text, &format!("before\n{long}\nafter"));
        assert_eq!(text, format!("    before\n    {shown}\n    after\n"));
    }

    #[test]
    fn a_long_output_is_shown_from_its_end() {
        let output: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let shown = last_lines(&output);
        assert!(shown.starts_with("... 40 lines before\nline 40\n") && shown.ends_with("line 99"), "{shown}");
    }
}
