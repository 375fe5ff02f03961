//! Trees of JUnit XML: a directory per commit or build, with reports anywhere below it. What a CI server archives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::gather;
use super::intake::{Intake, IntakeRow};
use super::mapping::time;
use crate::engine::Watch;
use crate::error::LabError;
use crate::label::Outcome;
use crate::records::PreSubmit;

/// What a target is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granularity {
    /// A test suite: the name of a `testsuite`.
    Suite,
    /// A class of tests: the `classname` of its cases.
    Class,
    /// A test case: `classname` and `name`.
    Case,
}

/// Takes in every directory in `root`, whose name is the commit or build.
pub fn import_junit(
    root: &Path,
    granularity: Granularity,
    intake: &mut Intake<'_>,
    watch: &dyn Watch,
) -> Result<(), LabError> {
    let entries = std::fs::read_dir(root).map_err(LabError::io("read", root))?;
    let mut builds = Vec::new();
    for entry in entries {
        let path = entry.map_err(LabError::io("read", root))?.path();
        if path.is_dir() {
            builds.push(path);
        }
    }
    if builds.is_empty() {
        let problem =
            "it has no directories; one per commit or build is expected, with JUnit XML files in it";
        return Err(LabError::Input { path: root.to_path_buf(), problem: problem.to_string() });
    }
    builds.sort();
    for build in builds {
        watch.go_on()?;
        let rows = import_build(&build, granularity, intake)?;
        watch.advance(rows);
    }
    Ok(())
}

/// What happened to one target in a report.
#[derive(Default)]
struct Tried {
    passed: bool,
    failed: bool,
    /// Failed, and then passed when it was tried again.
    flaked: bool,
    seconds: Option<f64>,
}

/// A report, read.
struct Report {
    path: PathBuf,
    targets: BTreeMap<String, Tried>,
    earliest: Option<i64>,
}

fn import_build(build: &Path, granularity: Granularity, intake: &mut Intake<'_>) -> Result<u64, LabError> {
    let mut files = Vec::new();
    gather(build, "xml", &mut files)?;
    files.sort();
    let mut reports = Vec::new();
    for path in files {
        let text = fewer_files::read_to_string(&path).map_err(LabError::io("read", &path))?;
        match read_report(&path, &text, granularity) {
            Ok(report) => reports.push(report),
            Err((row, problem)) => intake.refuse(&path, row, problem),
        }
    }
    let commit = build.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let earliest = reports.iter().filter_map(|report| report.earliest).min();
    let mut rows = 0;
    for report in &reports {
        for ((target, tried), number) in report.targets.iter().zip(1..) {
            rows += tried.push(&commit, earliest, target, &report.path, number, intake)?;
        }
    }
    Ok(rows)
}

impl Tried {
    /// Takes its executions in; how many.
    fn push(
        &self,
        commit: &str,
        time: Option<i64>,
        target: &str,
        path: &Path,
        number: u64,
        intake: &mut Intake<'_>,
    ) -> Result<u64, LabError> {
        let outcome = match (self.failed, self.passed) {
            (true, _) => Outcome::Fail,
            (false, true) => Outcome::Pass,
            (false, false) => Outcome::NotRun,
        };
        let mut row = IntakeRow {
            commit,
            time,
            author: None,
            target,
            outcome,
            duration_s: self.seconds,
            pre_submit: PreSubmit::Unknown,
            fingerprint: None,
        };
        let has_flaked = self.flaked && outcome == Outcome::Pass;
        if has_flaked {
            (row.outcome, row.duration_s) = (Outcome::Fail, None);
            intake.push(path, number, &row)?;
            (row.outcome, row.duration_s) = (outcome, self.seconds);
        }
        intake.push(path, number, &row)?;
        Ok(1 + u64::from(has_flaked))
    }
}

/// The targets of a report; the line and what is wrong with it.
fn read_report(path: &Path, text: &str, granularity: Granularity) -> Result<Report, (u64, String)> {
    let mut report = Report { path: path.to_path_buf(), targets: BTreeMap::new(), earliest: None };
    let mut reader = Reader::from_str(text);
    let mut place = Place::default();
    loop {
        let at = reader.buffer_position() as usize;
        let line =
            || 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() as u64;
        let event = reader.read_event().map_err(|error| (line(), format!("it is no XML: {error}")))?;
        match event {
            Event::Start(element) => {
                place.enter(&element, granularity, &mut report).map_err(|problem| (line(), problem))?
            }
            Event::Empty(element) => {
                place.enter(&element, granularity, &mut report).map_err(|problem| (line(), problem))?;
                place.leave(element.name().as_ref(), &mut report);
            }
            Event::End(element) => place.leave(element.name().as_ref(), &mut report),
            Event::Eof => break,
            _ => {}
        }
    }
    match place.depth {
        0 if place.is_report => Ok(report),
        0 => Err((1, "it is no JUnit report: it has no <testsuite>".to_string())),
        _ => {
            Err((text.lines().count() as u64, "it ends in the middle: the report was cut short".to_string()))
        }
    }
}

/// Where in a report the reader is.
#[derive(Default)]
struct Place {
    depth: usize,
    is_report: bool,
    suites: Vec<String>,
    case: Option<Case>,
}

struct Case {
    target: String,
    seconds: Option<f64>,
    failed: bool,
    skipped: bool,
    flaked: bool,
}

impl Place {
    fn enter(
        &mut self,
        element: &BytesStart<'_>,
        granularity: Granularity,
        report: &mut Report,
    ) -> Result<(), String> {
        self.depth += 1;
        match element.name().as_ref() {
            "testsuites" => self.is_report = true,
            "testsuite" => {
                self.is_report = true;
                self.suites.push(attribute(element, "name")?.unwrap_or_default());
                if let Some(text) = attribute(element, "timestamp")?.filter(|text| !text.is_empty()) {
                    let started = time(&text)?;
                    report.earliest = Some(report.earliest.map_or(started, |other| other.min(started)));
                }
            }
            "testcase" => self.case = Some(self.case_of(element, granularity)?),
            name => {
                if let Some(case) = &mut self.case {
                    case.failed |= matches!(name, "failure" | "error");
                    case.skipped |= name == "skipped";
                    case.flaked |= matches!(name, "flakyFailure" | "flakyError");
                }
            }
        }
        Ok(())
    }

    fn leave(&mut self, name: &str, report: &mut Report) {
        self.depth = self.depth.saturating_sub(1);
        match name {
            "testsuite" => {
                self.suites.pop();
            }
            "testcase" => {
                let Some(case) = self.case.take() else { return };
                let tried = report.targets.entry(case.target).or_default();
                tried.failed |= case.failed;
                tried.passed |= !case.failed && !case.skipped;
                tried.flaked |= case.flaked;
                if let Some(seconds) = case.seconds {
                    *tried.seconds.get_or_insert(0.0) += seconds;
                }
            }
            _ => {}
        }
    }

    fn case_of(&self, element: &BytesStart<'_>, granularity: Granularity) -> Result<Case, String> {
        let suite = self.suites.last().cloned().unwrap_or_default();
        let class = attribute(element, "classname")?.filter(|name| !name.is_empty()).unwrap_or(suite.clone());
        let name = attribute(element, "name")?.unwrap_or_default();
        let target = match granularity {
            Granularity::Suite => suite,
            Granularity::Class => class,
            Granularity::Case => format!("{class}::{name}"),
        };
        if target.is_empty() {
            return Err("a <testcase> has neither a class nor a suite with a name".to_string());
        }
        // Some tools write 1,234.5.
        let seconds = attribute(element, "time")?.and_then(|text| text.replace(',', "").parse().ok());
        Ok(Case { target, seconds, failed: false, skipped: false, flaked: false })
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let unreadable =
        |problem: &dyn std::fmt::Display| format!("attribute '{name}' cannot be read: {problem}");
    let Some(attribute) = element.try_get_attribute(name).map_err(|error| unreadable(&error))? else {
        return Ok(None);
    };
    let text = quick_xml::escape::unescape(&attribute.value).map_err(|error| unreadable(&error))?;
    Ok(Some(text.into_owned()))
}
