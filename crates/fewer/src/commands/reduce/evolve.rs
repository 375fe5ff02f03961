//! `fewer reduce evolve`: carries a reduced suite to a later revision.

use std::collections::BTreeSet;

use anyhow::ensure;
use fewer_core::TestId;
use fewer_core::reduction::evolve;
use serde::Serialize;

use super::options::EvolveOptions;
use super::reduced_file::{KeptTest, ReducedFile};
use super::revision::{Revision, short, tests_of};
use super::sheet::{Sheet, shown};
use crate::session::Session;

#[derive(Serialize)]
struct EvolveView {
    /// The tests of the full suite at the later revision.
    full: usize,
    evolved: usize,
    added: BTreeSet<TestId>,
    removed: BTreeSet<TestId>,
    left_out: usize,
    file: String,
}

pub fn execute(session: &Session<'_>, options: &EvolveOptions) -> anyhow::Result<()> {
    let mut file = ReducedFile::read(&options.file)?;
    let later = tests_of(session, options.to.as_deref())?;
    ensure!(!later.is_empty(), "no tests are recorded: `fewer run` records them");
    let evolved = evolve(&file.reduced(), &file.full(), &later);
    let revision = Revision::find(session, options.to.as_deref())?;
    file.kept.retain(|kept| later.contains(&kept.test));
    file.left_out.retain(|test| later.contains(&test.test));
    let since = file.commit.as_deref().map_or_else(String::new, |commit| format!(" since {}", short(commit)));
    file.kept.extend(evolved.added.iter().map(|test| KeptTest::new(test.clone(), format!("new{since}"))));
    file.evolved_to = revision.commit.filter(|_| !revision.dirty);
    let output = options.output.as_ref().unwrap_or(&options.file);
    file.write(output)?;
    let view = EvolveView {
        full: later.len(),
        evolved: evolved.suite.len(),
        added: evolved.added,
        removed: evolved.removed,
        left_out: evolved.left_out.len(),
        file: session.project.shown(output),
    };
    session.console.data(&shown(
        options.format,
        &view.sheet(),
        &view.sentence(),
        "fewer-reduce-evolve/1",
        &view,
    ))
}

impl EvolveView {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new(["suite", "tests"]);
        for (name, count) in [
            ("full", self.full),
            ("evolved", self.evolved),
            ("of these new", self.added.len()),
            ("kept before, now gone", self.removed.len()),
            ("left out", self.left_out),
        ] {
            sheet.row([name.to_string(), count.to_string()]);
        }
        sheet
    }

    fn sentence(&self) -> String {
        let mut text = format!("{} is written\n", self.file);
        for test in &self.added {
            text.push_str(&format!("  + {test}\n"));
        }
        for test in &self.removed {
            text.push_str(&format!("  - {test}\n"));
        }
        text
    }
}
