//! `fewer doctor`: what is missing or makes selection coarser than it could be, with the fix.

use std::fmt::Write;

use fewer_console::{Console, ExitCode};
use fewer_report::document;
use fewer_report::style::{Tone, paint};
use serde::Serialize;

use crate::build_directory::BuildDirectory;
use crate::cargo;
use crate::cli::{Format, FormatOptions, Global};
use crate::diagnosis::{Finding, Fix, Severity, findings, not_in_all};
use crate::examination::{examine, scan};
use crate::java;
use crate::precision::{Levels, build_system};
use crate::session::Session;

/// What was looked at, and what was found.
#[derive(Serialize, Default)]
struct Report {
    build_directory: String,
    objects: usize,
    programs: usize,
    googletest_programs: usize,
    /// How finely the objects are read.
    levels: Levels,
    /// In whose words people need the fixes; all of them are in the document.
    #[serde(skip)]
    build_system: Option<&'static str>,
    /// Of Java, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    java: Option<java::Overview>,
    /// Of Rust, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    cargo: Option<cargo::Overview>,
    tests: usize,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

pub fn execute(global: &Global, console: &Console, options: &FormatOptions) -> anyhow::Result<ExitCode> {
    let session = Session::look(global, console)?;
    session.end_in_order();
    let tool = java::tool_of(&session.project);
    let cargo = cargo::cargo_of(&session.project);
    let mut report = match BuildDirectory::find(&session.project) {
        Ok(directory) if cargo.is_none() => of_objects(&session, &directory)?,
        Ok(_) => Report::default(),
        Err(error) if tool.is_none() && cargo.is_none() => return Err(error),
        Err(_) => Report::default(),
    };
    if let Some(cargo) = cargo {
        let (overview, findings, notes) = cargo::diagnose(&session, cargo)?;
        report.tests += overview.tests;
        report.cargo = Some(overview);
        report.findings.extend(findings);
        report.notes.extend(notes);
    }
    if let Some(tool) = tool {
        let (overview, findings, notes) = java::diagnose(&session, tool)?;
        report.tests += overview.tests;
        report.java = Some(overview);
        report.findings.extend(findings);
        report.notes.extend(notes);
    }
    report.findings.extend(no_git(&session));
    report.findings.sort_by_key(|finding| finding.severity);
    console.data(&match options.format {
        Format::Json => document("fewer-doctor/1", &report),
        Format::Text => text(&report),
    })?;
    session.finish();
    Ok(ExitCode::Green)
}

fn of_objects(session: &Session<'_>, directory: &BuildDirectory) -> anyhow::Result<Report> {
    let (tree, mut notes) = scan(session, &directory.path)?;
    let examined = examine(session, directory, &tree)?;
    let findings = {
        let _phase = session.timings.phase("diagnose");
        let mut all = findings(&session.project.root, &directory.path, &tree, &examined);
        all.extend(not_in_all(&session.project, &directory.path));
        all
    };
    if !directory.others.is_empty() {
        notes.push(format!("other directories could be meant too: {}", directory.others.join(", ")));
    }
    notes.extend(examined.notes.iter().cloned());
    let targets = examined.analysis.targets();
    Ok(Report {
        build_directory: session.project.shown(&directory.path),
        objects: tree.objects.len(),
        programs: targets.len(),
        googletest_programs: targets.iter().filter(|target| target.has_googletest).count(),
        levels: Levels::of(&tree),
        build_system: build_system(&session.project.root, &directory.path),
        java: None,
        cargo: None,
        tests: examined.tests.len(),
        findings,
        notes,
    })
}

fn no_git(session: &Session<'_>) -> Option<Finding> {
    session.project.work_tree.is_none().then(|| Finding {
        severity: Severity::Advice,
        id: "no-git",
        what: "the project is in no git working tree, or git is not installed".to_string(),
        why: "outcomes are recorded without a commit, so evidence says less",
        examples: Vec::new(),
        fix: vec![Fix { place: "any", change: "git init, or install git".to_string() }],
    })
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    if !report.build_directory.is_empty() {
        let _ = writeln!(
            text,
            "{}: {} objects, {} programs ({} with GoogleTest), {} tests",
            report.build_directory, report.objects, report.programs, report.googletest_programs, report.tests
        );
        let _ = writeln!(text, "objects are read: {}", report.levels.line());
    }
    if let Some(java) = &report.java {
        let _ = writeln!(
            text,
            "{}: {} modules, {} classes, {} test classes",
            java.tool, java.modules, java.classes, java.tests
        );
    }
    if let Some(cargo) = &report.cargo {
        let _ = writeln!(
            text,
            "cargo: {} test programs, {} libraries, {} tests, run by {}",
            cargo.test_programs, cargo.libraries, cargo.tests, cargo.runner
        );
    }
    for finding in &report.findings {
        let label = match finding.severity {
            Severity::Problem => paint(Tone::Bad, "problem"),
            Severity::Advice => paint(Tone::Warning, "advice"),
        };
        let _ = writeln!(text, "\n{label}: {}", finding.what);
        let _ = writeln!(text, "  why it matters: {}", finding.why);
        for example in &finding.examples {
            let _ = writeln!(text, "  - {example}");
        }
        let is_known = |fix: &&Fix| Some(fix.place) == report.build_system;
        let is_told = |fix: &&Fix| is_known(fix) || !finding.fix.iter().any(|fix| is_known(&fix));
        for fix in finding.fix.iter().filter(is_told) {
            let place = if fix.place == "any" { "fix".to_string() } else { format!("fix in {}", fix.place) };
            let _ = writeln!(text, "  {place}: {}", fix.change);
        }
    }
    for note in &report.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    if report.findings.is_empty() {
        let _ = writeln!(text, "{}", paint(Tone::Good, "nothing to mend"));
    }
    text
}
