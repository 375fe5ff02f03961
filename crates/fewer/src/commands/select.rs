//! `fewer select`: what `fewer run` would run, printed for people, scripts or GoogleTest itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, bail};
use fewer_console::{Console, ExitCode, is_obeyed, shown_name};
use fewer_core::{Decision, Plan};
use fewer_report::{StrategyView, plan_json};

use crate::cargo::nextest_filter;
use crate::change;
use crate::cli::{Global, SelectFormat, SelectOptions};
use crate::current::{Current, Prepared, prepare};
use crate::examination::Starter;
use crate::history::{Foretelling, Foretold, Request, foretell_head, foretell_merge};
use crate::java::JavaMeans;
use crate::names::readable_test;
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, options: &SelectOptions) -> anyhow::Result<ExitCode> {
    let request = Request::resolve(&options.history, options.all)?;
    let session = Session::open_to_start(global, console)?.seeing(&options.cpp);
    if !options.merge.is_empty() {
        let foretold = foretell_merge(&session, &options.merge)?;
        return show_foretold(&session, foretold, options);
    }
    if let Some(strategy) = request.without_build() {
        let foretold = foretell_head(&session, strategy)?;
        return show_foretold(&session, foretold, options);
    }
    let current = match prepare(&session, (&options.build).into(), &options.java, &request)? {
        Prepared::BuildFailed => {
            session.finish();
            return Ok(ExitCode::BuildFailed);
        }
        Prepared::Ready(current) => current,
    };
    current.require_ground(&session, options.vanished.allow_vanished)?;
    if let Some(outdated) = current.outdated.as_ref().filter(|_| request.is_open()) {
        console.note(&outdated.note(&session.project));
        let foretold = foretell_head(&session, Foretelling::Predict)?;
        return show_foretold(&session, foretold, options);
    }
    show(&session, *current, options)
}

fn show(session: &Session<'_>, mut current: Current, options: &SelectOptions) -> anyhow::Result<ExitCode> {
    let console = session.console;
    if options.format == SelectFormat::Json || console.is_verbose() {
        let _phase = session.timings.phase("explain");
        let since = change::Since::LastOutcome;
        change::explain(&session.store(), &current.graph, &mut current.plan, since, change::LISTED, |_| true);
    }
    if options.history.is_given() {
        console.note(&current.strategy.to_string());
    }
    say(console, &current.plan, &current.notes);
    let text = match options.format {
        SelectFormat::List => list(&current.plan),
        SelectFormat::Json => plan_json(&current.plan, &current.strategy, &current.notes),
        SelectFormat::GtestFilter => gtest_filters(&current),
        SelectFormat::Nextest => nextest_filter(&current.plan, &current.starters),
        SelectFormat::Surefire => java_of(&current)?.surefire_excludes(&current.plan),
        SelectFormat::Gradle => java_of(&current)?.gradle_arguments(&current.plan),
    };
    console.data(&text)?;
    session.finish();
    Ok(if current.incomplete.is_some() { ExitCode::Setup } else { ExitCode::Green })
}

fn show_foretold(
    session: &Session<'_>,
    foretold: Foretold,
    options: &SelectOptions,
) -> anyhow::Result<ExitCode> {
    let Foretold { plan, strategy, because, notes } = foretold;
    let strategy = StrategyView { name: strategy.word(), because };
    session.console.note(&strategy.to_string());
    say(session.console, &plan, &notes);
    let text = match options.format {
        SelectFormat::List => list(&plan),
        SelectFormat::Json => plan_json(&plan, &strategy, &notes),
        SelectFormat::GtestFilter | SelectFormat::Surefire | SelectFormat::Gradle | SelectFormat::Nextest => {
            bail!(
                "--format gtest-filter, surefire, gradle and nextest need what is built, and this is foretold; use list or json"
            )
        }
    };
    session.console.data(&text)?;
    session.finish();
    Ok(ExitCode::Green)
}

fn say(console: &Console, plan: &Plan, notes: &[String]) {
    for note in notes {
        console.note(note);
    }
    if console.is_verbose() {
        for test in plan.with(Decision::Run) {
            console.say(&format!("{}: {}", test.id, readable_test(test).reason));
        }
    }
}

fn java_of(current: &Current) -> anyhow::Result<&JavaMeans> {
    current
        .java
        .as_ref()
        .context("--format surefire and gradle are about Java, and this is not a Java project")
}

fn list(plan: &Plan) -> String {
    let mut text = String::new();
    for test in plan.with(Decision::Run) {
        let _ = writeln!(text, "{}", shown_name(&test.id.to_string()));
    }
    text
}

/// Per program a line: its path below the build directory, a tab, and the filter. Tests that are not of a
/// GoogleTest program have no filter and are left out.
fn gtest_filters(current: &Current) -> String {
    let mut filters: BTreeMap<&str, Vec<(usize, String)>> = BTreeMap::new();
    for test in current.plan.with(Decision::Run) {
        match current.starters.get(&test.id) {
            Some(Starter::GoogleTest { order, .. }) => {
                filters.entry(&test.id.target).or_default().push((*order, pattern(&test.id.name)));
            }
            Some(Starter::Unlisted(_) | Starter::Whole(_)) => {
                filters.entry(&test.id.target).or_default().push((0, "*".to_string()));
            }
            Some(Starter::Ctest(_) | Starter::Libtest(_) | Starter::Documentation(_)) | None => {}
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

/// A name as a filter: what has a meaning in filters or for terminals becomes `?`, which matches any one byte.
fn pattern(name: &str) -> String {
    let mut pattern = String::new();
    for character in name.chars() {
        if "*?:-".contains(character) || is_obeyed(character) {
            pattern.extend(std::iter::repeat_n('?', character.len_utf8()));
        } else {
            pattern.push(character);
        }
    }
    pattern
}
