//! `fewer reduce import`: what tests cover or kill, from what other tools wrote.

use anyhow::{bail, ensure};
use fewer_core::TestId;
use fewer_core::reduction::{RequirementKind, Suite, SuiteBuilder};
use fewer_requirements::{Findings, KnownTests, Matched, OwnCode, Source, Stored};
use serde::Serialize;

use super::options::{ImportOptions, TestCodeOptions};
use super::reader::Reader;
use super::requirement_files::RequirementFiles;
use super::revision::{Revision, newest_tests, recorded_commit};
use super::sheet::{Sheet, shown};
use crate::session::Session;

/// So many unmatched tests are shown; JSON has them all.
const SHOWN_UNMATCHED: usize = 10;

/// What was read.
#[derive(Serialize)]
struct ImportView {
    kind: RequirementKind,
    revision: String,
    files: usize,
    tests: usize,
    requirements: usize,
    entries: usize,
    /// Requirements in the tests' own code, which do not count.
    left_out: usize,
    /// Names of the tool that are no test of the recorded suite.
    unmatched: Vec<String>,
    /// Recorded tests that the files say nothing about.
    without_requirements: usize,
    stored_in: String,
}

pub fn execute(session: &Session<'_>, options: &ImportOptions) -> anyhow::Result<()> {
    let console = session.console;
    let _phase = session.timings.phase("import requirements");
    let (mut findings, from) = read_all(session, options)?;
    let left_out = findings.trim(session.project.root.to_str(), &own_code(&options.test_code));
    findings.notes.iter().for_each(|note| console.note(note));
    let revision = Revision::find(session, options.at.as_deref())?;
    let known = known_tests(session, &revision)?;
    let Matched { suite, unmatched } = matched(findings, &known, options);
    ensure!(
        !suite.tests.is_empty(),
        "none of the {} test(s) in the files is a test of the recorded suite, like {}: --keep-unmatched keeps them under their \
         own names",
        unmatched.len(),
        unmatched.first().map(String::as_str).unwrap_or_default()
    );
    say_unmatched(session, &unmatched);
    let files = RequirementFiles::of(session);
    let suite = match files.read(revision.label(), suite.kind)?.filter(|_| options.add) {
        Some(before) => joined(&[before.suite, suite]),
        None => suite,
    };
    let suite = timed(session, suite)?;
    let covered = |test: &&TestId| suite.position(test).is_none();
    let without_requirements = known.tests().iter().filter(covered).count();
    let stored = Stored { source: source(&revision, from), suite };
    let path = files.write(revision.label(), &stored)?;
    let view = ImportView {
        kind: stored.suite.kind,
        revision: revision.shown(),
        files: options.files.len(),
        tests: stored.suite.tests.len(),
        requirements: stored.suite.matrix.requirements(),
        entries: stored.suite.matrix.entries(),
        left_out,
        unmatched,
        without_requirements,
        stored_in: session.project.shown(&path),
    };
    console.data(&shown(options.format, &view.sheet(), &view.sentence(), "fewer-reduce-import/1", &view))
}

impl ImportView {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new(["requirements", self.kind.word()]);
        sheet
            .row(["revision", self.revision.as_str()])
            .row(["tests", &self.tests.to_string()])
            .row([self.kind.word(), &self.requirements.to_string()])
            .row(["pairs", &self.entries.to_string()])
            .row(["in the tests' own code, left out", &self.left_out.to_string()])
            .row(["names that are no recorded test", &self.unmatched.len().to_string()])
            .row(["recorded tests without any", &self.without_requirements.to_string()]);
        sheet
    }

    fn sentence(&self) -> String {
        format!(
            "kept in {}; `fewer reduce build --kind {}` reduces the suite\n",
            self.stored_in,
            self.kind.word()
        )
    }
}

pub fn own_code(options: &TestCodeOptions) -> OwnCode {
    let base = if options.with_test_code { OwnCode::nothing() } else { OwnCode::by_convention() };
    base.and_below(options.exclude.iter().cloned())
}

/// Where the requirements of a revision come from, now.
pub fn source(revision: &Revision, from: Vec<String>) -> Source {
    let now = jiff::Timestamp::now();
    let at = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
    Source { commit: revision.commit.clone(), dirty: revision.dirty, at, from }
}

/// The suite with the durations that are recorded of its tests, where it has none.
pub fn timed(session: &Session<'_>, mut suite: Suite) -> anyhow::Result<Suite> {
    let asked: Vec<_> = suite.tests.iter().map(|test| (test.clone(), fewer_core::Digest(0))).collect();
    let records = session.store().records(&asked)?;
    for (test, duration) in suite.tests.iter().zip(&mut suite.durations) {
        let recorded = records.get(test).and_then(|record| record.last.as_ref()).map(|last| last.duration_s);
        *duration = duration.or(recorded);
    }
    Ok(suite)
}

fn read_all(session: &Session<'_>, options: &ImportOptions) -> anyhow::Result<(Findings, Vec<String>)> {
    let kind = options.kind.map(|kind| kind.kind());
    let mut all: Option<Findings> = None;
    let mut from = Vec::new();
    let mut progress = session.console.progress(options.files.len());
    for path in &options.files {
        session.go_on()?;
        let reader = match options.from.reader(kind) {
            Some(reader) => reader,
            None => Reader::detect(path, kind)?,
        };
        progress.advance(&session.project.shown(path));
        let findings = reader.read(path)?;
        from.push(format!("{} {}", reader.word(), session.project.shown(path)));
        match &mut all {
            None => all = Some(findings),
            Some(all) if all.kind == findings.kind => all.add(findings),
            Some(all) => bail!(
                "{} is about {}, the files before it about {}; import them one kind at a time",
                path.display(),
                findings.kind.word(),
                all.kind.word()
            ),
        }
    }
    let Some(all) = all else { bail!("no file was named") };
    if kind.is_some_and(|kind| kind != all.kind) {
        bail!("the files are about {}, not what --kind says", all.kind.word());
    }
    Ok((all, from))
}

fn known_tests(session: &Session<'_>, revision: &Revision) -> anyhow::Result<KnownTests> {
    let of_commit = match &revision.commit {
        Some(commit) => recorded_commit(session, commit)?,
        None => None,
    };
    Ok(match of_commit {
        Some(snapshot) => KnownTests::new(snapshot.into_keys()),
        None => KnownTests::new(newest_tests(session)?),
    })
}

fn matched(findings: Findings, known: &KnownTests, options: &ImportOptions) -> Matched {
    let is_free = known.is_empty() || options.keep_unmatched;
    findings.matched(|name| match known.find(name) {
        Some(test) => vec![test],
        None if is_free => vec![KnownTests::unknown(name, &options.target)],
        None => Vec::new(),
    })
}

fn say_unmatched(session: &Session<'_>, unmatched: &[String]) {
    if unmatched.is_empty() {
        return;
    }
    let mut text = format!(
        "{} name(s) in the files are no test of the recorded suite and are left out (--keep-unmatched keeps them):",
        unmatched.len()
    );
    unmatched.iter().take(SHOWN_UNMATCHED).for_each(|name| text.push_str(&format!("\n  {name}")));
    if unmatched.len() > SHOWN_UNMATCHED {
        text.push_str(&format!(
            "\n  and {} more; --format json lists all",
            unmatched.len() - SHOWN_UNMATCHED
        ));
    }
    session.console.note(&text);
}

/// Suites of one kind, added up.
fn joined(suites: &[Suite]) -> Suite {
    let mut builder = SuiteBuilder::new(suites[0].kind);
    for suite in suites {
        for (row, test) in suite.tests.iter().enumerate() {
            let names: Vec<String> = suite
                .matrix
                .row(row)
                .iter()
                .map(|&requirement| suite.requirement(requirement as usize))
                .collect();
            let numbers: Vec<u32> = names.iter().map(|name| builder.requirement(name)).collect();
            builder.test(test.clone(), numbers);
        }
    }
    builder.finish()
}
