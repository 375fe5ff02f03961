//! `fewer forget`: the user says that recorded tests are gone on purpose.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::{Context, bail};
use fewer_console::{Console, ExitCode};
use fewer_core::TestId;
use fewer_core::plan::Patterns;
use fewer_report::document;
use serde::Serialize;

use crate::cli::{ForgetOptions, Format, Global};
use crate::session::Session;
use crate::vanished::{forget, named, recorded_tests};

/// `fewer-forget/1`.
#[derive(Serialize)]
struct ForgottenView {
    forgotten: BTreeSet<TestId>,
}

pub fn execute(global: &Global, console: &Console, options: &ForgetOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open(global, console)?;
    let recorded = recorded_tests(&session.store()).context("cannot read which tests were recorded")?;
    let mut forgotten = BTreeSet::new();
    for text in &options.tests {
        let found = matching(&recorded, text)?;
        if found.is_empty() {
            bail!(
                "no recorded test or program is called '{text}', so nothing was forgotten. Recorded are {}",
                if recorded.is_empty() { "none".to_string() } else { named(&recorded) }
            );
        }
        forgotten.extend(found);
    }
    forget(&session, &forgotten)?;
    console.data(&match options.format {
        Format::Json => document("fewer-forget/1", &ForgottenView { forgotten }),
        Format::Text => text(&forgotten),
    })?;
    session.finish();
    Ok(ExitCode::Green)
}

/// Those of a program or module, else those that a pattern names.
fn matching(recorded: &BTreeSet<TestId>, text: &str) -> anyhow::Result<BTreeSet<TestId>> {
    let of_target = |id: &&TestId| id.target == text || id.target.ends_with(&format!("/{text}"));
    let found: BTreeSet<TestId> = recorded.iter().filter(of_target).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let patterns = Patterns::parse(&[text.to_string()]).with_context(|| format!("'{text}' is no pattern"))?;
    Ok(recorded.iter().filter(|id| patterns.matching(id).is_some()).cloned().collect())
}

fn text(forgotten: &BTreeSet<TestId>) -> String {
    let mut text = String::new();
    for id in forgotten {
        let _ = writeln!(text, "{id}");
    }
    let _ = writeln!(
        text,
        "{} tests are forgotten: the next `fewer run` does not miss them. Those that are there run as before",
        forgotten.len()
    );
    text
}
