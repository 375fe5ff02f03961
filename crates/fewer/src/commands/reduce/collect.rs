//! `fewer reduce collect`: runs every GoogleTest test of a build with coverage in a process of its own and keeps the
//! statements it covers, under its fingerprint: a test whose content is known is not run again unless its lines have
//! moved, and an interrupted collection goes on where it was.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use fewer_console::Progress;
use fewer_core::reduction::RequirementKind;
use fewer_core::{Digest, DigestBuilder, Domain, TestId, Verdict};
use fewer_requirements::{Findings, Stored};
use fewer_runners::googletest::Shard;
use fewer_runners::{Event, Job, RunOptions, TestProgram};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::coverage_tool::{CoverageTool, has_coverage_map};
use super::import::{own_code, source, timed};
use super::options::CollectOptions;
use super::requirement_files::RequirementFiles;
use super::revision::Revision;
use super::sheet::{Sheet, shown};
use super::source_texts::SourceTexts;
use crate::cli::{Building, JavaOptions};
use crate::current::{Current, Prepared, prepare};
use crate::examination::Starter;
use crate::history::Request;
use crate::session::Session;

/// The kind under which the store keeps what a test covers.
const KIND: &str = "coverage";
const KEY: Domain = Domain::new("reduce.coverage/2");
/// Tests per worker between two times that results are kept.
const BATCH: usize = 16;

/// What one test covers.
#[derive(Serialize, Deserialize, Default)]
struct Covered {
    duration_s: f64,
    /// Lines by file.
    lines: BTreeMap<String, Vec<u64>>,
    /// What these lines said.
    texts: String,
}

/// A test that is to be collected.
struct Due {
    test: TestId,
    key: Digest,
    program: TestProgram,
}

#[derive(Serialize)]
struct CollectView {
    coverage: &'static str,
    revision: String,
    tests: usize,
    collected: usize,
    known_before: usize,
    failed: Vec<TestId>,
    without_counts: Vec<TestId>,
    not_googletest: usize,
    statements: usize,
    entries: usize,
    left_out: usize,
    stored_in: String,
}

pub fn execute(session: &mut Session<'_>, options: &CollectOptions) -> anyhow::Result<()> {
    if let Some(directory) = &options.build_directory {
        let found = directory.canonicalize();
        let directory =
            found.with_context(|| format!("cannot find the build directory {}", directory.display()))?;
        session.project.settings.build_directory = Some(directory);
    }
    let session = &*session;
    let building = Building { builds: false, trusts: true };
    let java = JavaOptions { dependencies: None, level: None };
    let Prepared::Ready(current) = prepare(session, building, &java, &Request::default())? else {
        bail!("nothing is built here, so nothing can fail to build");
    };
    let (tests, not_googletest) = googletest_tests(&current);
    ensure!(!tests.is_empty(), "no GoogleTest test was found; for other tests use `fewer reduce import`");
    let programs: Vec<&TestProgram> = programs_of(&tests);
    let tool = CoverageTool::find(options.coverage, &programs)?;
    let objects = current.objects.as_ref().context("a GoogleTest program is of a build directory")?;
    let places =
        Places { root: session.project.root.clone(), build_directory: objects.build_directory.clone() };
    let libraries = libraries(&current, &tool);
    let texts = SourceTexts::below(session.project.root.clone());
    let collection = Collection { session, tool: &tool, libraries, places, texts, options };
    let (covered, known_before, failed) = collection.all(&tests)?;
    let without_counts: Vec<TestId> =
        tests.iter().filter(|due| !covered.contains_key(&due.test)).map(|due| due.test.clone()).collect();
    let revision = Revision::find(session, None)?;
    let (stored, left_out) = stored(session, &tool, &revision, &covered, options)?;
    let path = RequirementFiles::of(session).write(revision.label(), &stored)?;
    say(session, &failed, &without_counts);
    let view = CollectView {
        coverage: tool.word(),
        revision: revision.shown(),
        tests: tests.len(),
        collected: tests.len() - known_before,
        known_before,
        failed,
        without_counts,
        not_googletest,
        statements: stored.suite.matrix.requirements(),
        entries: stored.suite.matrix.entries(),
        left_out,
        stored_in: session.project.shown(&path),
    };
    session.console.data(&shown(
        options.format,
        &view.sheet(),
        &view.sentence(),
        "fewer-reduce-collect/1",
        &view,
    ))
}

/// The tests that can be collected, and how many others there are.
fn googletest_tests(current: &Current) -> (Vec<Due>, usize) {
    let mut tests = Vec::new();
    let mut others = 0;
    for test in current.graph.tests().iter().filter(|test| !test.disabled) {
        let program = match current.starters.get(&test.id) {
            Some(Starter::GoogleTest { program, .. }) => {
                current.objects.as_ref().and_then(|objects| objects.programs.get(*program))
            }
            Some(_) | None => None,
        };
        let Some(program) = program else {
            others += 1;
            continue;
        };
        let key = current.snapshot[&test.id];
        tests.push(Due { test: test.id.clone(), key, program: program.program.clone() });
    }
    tests.sort_by(|a, b| a.test.cmp(&b.test));
    (tests, others)
}

fn programs_of(tests: &[Due]) -> Vec<&TestProgram> {
    let by_target: BTreeMap<&str, &TestProgram> =
        tests.iter().map(|due| (due.program.target.as_str(), &due.program)).collect();
    by_target.into_values().collect()
}

/// Libraries of the build that have coverage of their own.
fn libraries(current: &Current, tool: &CoverageTool) -> Vec<PathBuf> {
    match (tool, &current.objects) {
        (CoverageTool::Clang { .. }, Some(objects)) => objects
            .images
            .iter()
            .filter(|image| image.is_library)
            .map(|image| objects.build_directory.join(&image.name))
            .filter(|path| has_coverage_map(path))
            .collect(),
        (CoverageTool::Clang { .. }, None) | (CoverageTool::Gcov { .. }, _) => Vec::new(),
    }
}

/// What a collection works with.
struct Collection<'c> {
    session: &'c Session<'c>,
    tool: &'c CoverageTool,
    libraries: Vec<PathBuf>,
    places: Places,
    texts: SourceTexts,
    options: &'c CollectOptions,
}

/// Where the project and its build are.
struct Places {
    root: PathBuf,
    build_directory: PathBuf,
}

impl Places {
    /// A file as the project knows it. With `-ffile-prefix-map` compilers say that sources are in the directory they
    /// were started in.
    fn of(&self, file: String) -> String {
        let path = Path::new(&file);
        match path.strip_prefix(&self.build_directory) {
            Ok(below) if !path.is_file() && self.root.join(below).is_file() => below.display().to_string(),
            Ok(_) | Err(_) => file,
        }
    }
}

impl Collection<'_> {
    /// What every test covers, how many of them were known, and those that failed.
    fn all(&self, tests: &[Due]) -> anyhow::Result<(BTreeMap<TestId, Covered>, usize, Vec<TestId>)> {
        let session = self.session;
        let _phase = session.timings.phase("collect coverage");
        let keys: Vec<Digest> = tests.iter().map(|due| self.key(due)).collect();
        let kept = session.store().blobs(KIND, &keys)?;
        let mut covered = BTreeMap::new();
        let mut due = Vec::new();
        for (test, key) in tests.iter().zip(&keys) {
            let known = kept.get(key).and_then(|content| serde_json::from_slice::<Covered>(content).ok());
            match known.filter(|known| known.texts == self.texts.digest(&known.lines)) {
                Some(known) => drop(covered.insert(test.test.clone(), known)),
                None => due.push(test),
            }
        }
        let known = covered.len();
        let mut failed = Vec::new();
        let mut progress = session.console.progress(due.len());
        let run = self.run_options();
        for batch in due.chunks(BATCH * run.workers.get()) {
            session.go_on()?;
            for (test, found, verdict) in self.batch(batch, &run, &mut progress)? {
                if verdict.is_failure() {
                    failed.push(test.test.clone());
                }
                covered.extend(found.map(|found| (test.test.clone(), found)));
            }
        }
        Ok((covered, known, failed))
    }

    fn key(&self, due: &Due) -> Digest {
        let mut digest = DigestBuilder::new(KEY);
        digest.text(&due.test.target).text(&due.test.name).digest(due.key).text(self.tool.word());
        digest.finish()
    }

    fn run_options(&self) -> RunOptions {
        let settings = &self.session.project.settings;
        let defaults = RunOptions::default();
        RunOptions {
            workers: self.options.jobs.or(settings.jobs).unwrap_or(defaults.workers),
            test_timeout: self.options.timeout.or(settings.test_timeout).unwrap_or(defaults.test_timeout),
            run_disabled: false,
            cancel: self.session.cancel.clone(),
        }
    }

    /// Runs some tests, each in a process and a directory of its own, and keeps what they cover.
    fn batch<'d>(
        &self,
        batch: &[&'d Due],
        options: &RunOptions,
        progress: &mut Progress,
    ) -> anyhow::Result<Vec<(&'d Due, Option<Covered>, Verdict)>> {
        let directory = tempfile::Builder::new().prefix("fewer-coverage-").tempdir()?;
        let place = |index: usize| directory.path().join(index.to_string());
        let mut jobs = Vec::new();
        for (index, due) in batch.iter().enumerate() {
            std::fs::create_dir(place(index))?;
            let mut program = due.program.clone();
            program.environment.extend(self.tool.environment(&place(index)));
            jobs.push(Job::Shard(Shard::new(program, vec![due.test.name.clone()])));
        }
        let mut results: HashMap<TestId, (Verdict, f64)> = HashMap::new();
        fewer_runners::run(jobs, options, &mut |event| match event {
            Event::TestStarted { test } => progress.message(&test.to_string()),
            Event::TestEnded { test, .. } => progress.advance(&test.to_string()),
            Event::TestFinished(result) => {
                results.insert(result.test, (result.outcome.verdict, result.outcome.duration_s));
            }
            Event::ProcessFailed(_) | Event::Indivisible(_) => {}
        });
        self.session.go_on()?;
        let (tool, libraries, places, texts) = (self.tool, &self.libraries, &self.places, &self.texts);
        let found: Vec<(&Due, Option<Covered>, Verdict)> = batch
            .par_iter()
            .enumerate()
            .map(|(index, due)| {
                let (verdict, duration_s) =
                    results.get(&due.test).copied().unwrap_or((Verdict::Inconclusive, 0.0));
                let lines = tool.covered(&due.program, libraries, &place(index))?;
                let placed = |lines: Vec<(String, u64)>| {
                    lines.into_iter().map(|(file, line)| (places.of(file), line)).collect()
                };
                Ok((*due, lines.map(|lines| Covered::of(placed(lines), duration_s, texts)), verdict))
            })
            .collect::<anyhow::Result<_>>()?;
        self.keep(&found)?;
        close(directory)?;
        Ok(found)
    }

    /// Only what a test that passed covers: one that fails may stop anywhere.
    fn keep(&self, found: &[(&Due, Option<Covered>, Verdict)]) -> anyhow::Result<()> {
        let mut blobs = Vec::new();
        for (due, covered, verdict) in found {
            if let (Some(covered), Verdict::Passed) = (covered, verdict) {
                blobs.push((self.key(due), serde_json::to_vec(covered)?));
            }
        }
        Ok(self.session.store().put_blobs(KIND, &blobs)?)
    }
}

fn close(directory: TempDir) -> anyhow::Result<()> {
    directory.close().context("cannot remove the temporary directory")
}

impl Covered {
    fn of(lines: Vec<(String, u64)>, duration_s: f64, texts: &SourceTexts) -> Covered {
        let mut covered = Covered { duration_s, ..Covered::default() };
        for (file, line) in lines {
            covered.lines.entry(file).or_default().push(line);
        }
        covered.lines.values_mut().for_each(|lines| {
            lines.sort_unstable();
            lines.dedup();
        });
        covered.texts = texts.digest(&covered.lines);
        covered
    }
}

/// The suite, without what is not the project's own code.
fn stored(
    session: &Session<'_>,
    tool: &CoverageTool,
    revision: &Revision,
    covered: &BTreeMap<TestId, Covered>,
    options: &CollectOptions,
) -> anyhow::Result<(Stored, usize)> {
    let mut findings = Findings::new(RequirementKind::Statements);
    for (test, covered) in covered {
        let name = test.to_string();
        findings.test(&name);
        for (file, lines) in covered.lines.iter().filter(|(file, _)| is_of_project(session, file)) {
            for &line in lines {
                let statement = findings.statement(file, line);
                findings.satisfied(&name, statement);
            }
        }
    }
    let left_out = findings.trim(session.project.root.to_str(), &own_code(&options.test_code));
    let mut suite = findings.matched(|name| name.parse().ok().into_iter().collect()).suite;
    suite = timed(session, suite)?;
    for (test, duration) in suite.tests.iter().zip(&mut suite.durations) {
        *duration = duration.or(covered.get(test).map(|covered| covered.duration_s));
    }
    let from = vec![format!("{} coverage of {}", tool.word(), built_in(session))];
    Ok((Stored { source: source(revision, from), suite }, left_out))
}

/// Headers of the system and of other projects are not what the suite is there for.
fn is_of_project(session: &Session<'_>, file: &str) -> bool {
    !file.starts_with('/')
        || session.project.root.to_str().is_some_and(|root| file.starts_with(&format!("{root}/")))
}

fn built_in(session: &Session<'_>) -> String {
    match &session.project.settings.build_directory {
        Some(directory) => session.project.shown(directory),
        None => "the build directory".to_string(),
    }
}

fn say(session: &Session<'_>, failed: &[TestId], without_counts: &[TestId]) {
    let list = |tests: &[TestId]| tests.iter().take(5).map(TestId::to_string).collect::<Vec<_>>().join(", ");
    if !failed.is_empty() {
        session.console.note(&format!(
            "{} test(s) failed, so that they may cover less than they should; they are collected again next time: {}",
            failed.len(),
            list(failed)
        ));
    }
    if !without_counts.is_empty() {
        session.console.note(&format!(
            "{} test(s) wrote no counts (killed, or ended by _exit), so nothing is known of them and they stay in every reduced \
             suite: {}",
            without_counts.len(),
            list(without_counts)
        ));
    }
}

impl CollectView {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new(["coverage", self.coverage]);
        sheet
            .row(["revision", self.revision.as_str()])
            .row(["tests", &self.tests.to_string()])
            .row(["run now", &self.collected.to_string()])
            .row(["known before", &self.known_before.to_string()])
            .row(["without counts", &self.without_counts.len().to_string()])
            .row(["not of GoogleTest", &self.not_googletest.to_string()])
            .row(["statements", &self.statements.to_string()])
            .row(["pairs", &self.entries.to_string()])
            .row(["in the tests' own code, left out", &self.left_out.to_string()]);
        sheet
    }

    fn sentence(&self) -> String {
        format!("kept in {}; `fewer reduce build` reduces the suite\n", self.stored_in)
    }
}
