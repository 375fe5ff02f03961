//! The contract of selection for C++: for every language feature a small tree and a change to it, built by
//! several compilers, with the tests that the change must select and those it must not.
//!
//! `FEWER_CONTRACT_CASES=a,b` and `FEWER_CONTRACT_VARIANTS=g++-O0` narrow a run down;
//! `FEWER_CONTRACT_KEEP=DIR` keeps the trees, with the first build in `build.before`.

mod listed;
mod memory_cache;
mod support;

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fewer_core::tts;
use rayon::prelude::*;

use memory_cache::MemoryCache;
use support::analysis::State;
use support::case::{Case, Oracle};
use support::program::{Ending, run_test};
use support::toolchain::{BITCODE_VARIANTS, LINK_TIME, Toolchain, VARIANTS, Variant, WITHOUT_SECTIONS};
use support::workshop::Workshop;

/// How much of a compiler's complaint fits a table, in characters: a missing header may concern every case.
const LONGEST_COMPLAINT: usize = 800;

/// How much of a case is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// What must be selected, what must not be, and the outcomes before and after.
    Everything,
    /// Only what must be selected: functions without sections of their own cannot be told apart, nor can objects
    /// that code was made of when linking.
    Safety,
}

/// What one case in one variant showed.
#[derive(Default)]
struct Findings {
    case: String,
    purpose: String,
    variant: &'static str,
    missed: Vec<String>,
    extra: Vec<String>,
    /// Why the first of the extra ones was selected.
    why: String,
    /// Where the case contradicts its own outcomes, or cannot be built.
    complaints: Vec<String>,
    tests: usize,
    selected: usize,
}

impl Findings {
    fn is_clean(&self) -> bool {
        self.missed.is_empty() && self.extra.is_empty() && self.complaints.is_empty()
    }
}

#[test]
fn every_change_selects_what_it_must_and_nothing_that_it_must_not() {
    hold(&VARIANTS, Scope::Everything);
}

#[test]
fn through_bitcode_every_change_selects_what_it_must_and_nothing_that_it_must_not() {
    hold(&BITCODE_VARIANTS, Scope::Everything);
}

#[test]
fn with_code_made_when_linking_every_change_still_selects_what_it_must() {
    hold(&LINK_TIME, Scope::Safety);
}

#[test]
fn without_a_section_per_function_every_change_still_selects_what_it_must() {
    hold(&[WITHOUT_SECTIONS], Scope::Safety);
}

#[test]
fn a_precompiled_header_leaves_every_fingerprint_as_it_is() {
    let case = Case::all(&contract()).into_iter().find(|case| case.name == "line-shift").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let differences: Vec<String> = VARIANTS
        .par_iter()
        .filter_map(|&variant| precompiling_shows(&case, variant, directory.path()).err())
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Fails if a case's fingerprints tell whether GoogleTest's header was compiled beforehand.
fn precompiling_shows(case: &Case, variant: Variant, directory: &Path) -> Result<(), String> {
    let toolchain = Toolchain::prepare(variant, &directory.join("toolchains"))?;
    let mut workshop = Workshop::open(case, &toolchain, directory)?;
    workshop.build(&[])?;
    let with = State::of_build(&workshop.build_directory(), None)?;
    workshop.build_without_precompiled_header()?;
    let without = State::of_build(&workshop.build_directory(), None)?;
    match without.selected_since(&with).first() {
        Some(id) => Err(format!("{}: {id}: {}", variant.name, without.why(&with, id))),
        None if with.snapshot.is_empty() => Err(format!("{}: no tests", variant.name)),
        None => Ok(()),
    }
}

fn contract() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cpp/contract")
}

/// Checks all cases in some variants and fails with one table of everything that does not hold.
fn hold(variants: &[Variant], scope: Scope) {
    let start = Instant::now();
    let cases = Case::all(&contract());
    assert!(cases.len() >= 100, "only {} cases: some are gone", cases.len());
    let directory = tempfile::tempdir().unwrap();
    let keep = env::var_os("FEWER_CONTRACT_KEEP").map(PathBuf::from);
    let trees = keep.as_deref().unwrap_or(directory.path());
    let toolchains: Vec<Toolchain> = variants
        .par_iter()
        .filter(|variant| is_wanted("FEWER_CONTRACT_VARIANTS", variant.name))
        .map(|&variant| Toolchain::prepare(variant, &directory.path().join("toolchains")).unwrap())
        .collect();
    let wanted = cases.iter().filter(|case| is_wanted("FEWER_CONTRACT_CASES", &case.name));
    let pairs: Vec<(&Case, &Toolchain)> =
        wanted.flat_map(|case| toolchains.iter().map(move |toolchain| (case, toolchain))).collect();
    let findings: Vec<Findings> =
        pairs.par_iter().map(|(case, toolchain)| examine(case, toolchain, scope, trees)).collect();
    let tests: usize = findings.iter().map(|found| found.tests).sum();
    let selected: usize = findings.iter().map(|found| found.selected).sum();
    let failed = findings.iter().filter(|found| !found.is_clean()).count();
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "{} builds of {} cases, {selected} of {tests} tests selected, {seconds:.0} s",
        pairs.len(),
        cases.len()
    );
    assert!(failed == 0, "{failed} of {} do not hold:\n{}", pairs.len(), table(&findings));
}

/// Whether an environment variable, if set, lists the name.
fn is_wanted(variable: &str, name: &str) -> bool {
    env::var(variable).map_or(true, |listed| listed.split(',').any(|entry| entry == name))
}

fn examine(case: &Case, toolchain: &Toolchain, scope: Scope, trees: &Path) -> Findings {
    let mut findings = Findings {
        case: case.name.clone(),
        purpose: case.purpose.clone(),
        variant: toolchain.variant.name,
        ..Findings::default()
    };
    if let Err(complaint) = examine_into(case, toolchain, scope, trees, &mut findings) {
        findings.complaints.push(complaint.chars().take(LONGEST_COMPLAINT).collect());
    }
    findings
}

fn examine_into(
    case: &Case,
    toolchain: &Toolchain,
    scope: Scope,
    trees: &Path,
    findings: &mut Findings,
) -> Result<(), String> {
    let must_not = case.must_not(&toolchain.variant.likes());
    let expected: Vec<&String> = case.must.iter().chain(must_not).collect();
    let mut workshop = Workshop::open(case, toolchain, trees)?;
    workshop.build(&[])?;
    let kept = Arc::new(MemoryCache::default());
    let before = State::of_build_again(&kept, &workshop.build_directory(), None)?;
    let endings_before = endings(&workshop, &expected, scope)?;
    if env::var_os("FEWER_CONTRACT_KEEP").is_some() {
        workshop.keep_build()?;
    }
    workshop.change()?;
    workshop.build(&case.flags_after)?;
    let after = State::of_build_again(&kept, &workshop.build_directory(), Some(&before))?;
    let from_scratch = State::of_build(&workshop.build_directory(), Some(&before))?;
    let endings_after = endings(&workshop, &expected, scope)?;

    let selected = after.selected_since(&before);
    let known = |id: &String| after.knows(&before, id);
    if let Some(test) = tts(&from_scratch.snapshot, &after.snapshot).first() {
        let why = after.why(&from_scratch, &test.to_string());
        let complaint = "with what was kept of the first analysis the second gives other fingerprints";
        findings.complaints.push(format!("{complaint}: {test}: {why}"));
    }
    findings.tests = after.snapshot.len();
    findings.selected = selected.len();
    findings.missed = case.must.iter().filter(|id| !selected.contains(*id)).cloned().collect();
    findings
        .complaints
        .extend(expected.iter().filter(|id| !known(id)).map(|id| format!("no such test: {id}")));
    findings.complaints.extend(after.surprises.iter().map(|program| {
        format!("{program} lists other tests than before, and its startup fingerprint is the same")
    }));
    if scope == Scope::Everything {
        findings.extra = must_not.iter().filter(|id| selected.contains(*id)).cloned().collect();
        if let Some(id) = findings.extra.first() {
            findings.why = after.why(&before, id);
        }
        for ((id, before), after) in expected.iter().zip(endings_before).zip(endings_after) {
            findings.complaints.extend(contradiction(case, id, before, after));
        }
    }
    Ok(())
}

fn endings(workshop: &Workshop<'_>, ids: &[&String], scope: Scope) -> Result<Vec<Ending>, String> {
    match scope {
        Scope::Everything => ids.iter().map(|id| run_test(&workshop.build_directory(), id)).collect(),
        Scope::Safety => Ok(Vec::new()),
    }
}

/// The break-the-test oracle: what must be selected breaks, what must not be selected stays green.
fn contradiction(case: &Case, id: &String, before: Ending, after: Ending) -> Option<String> {
    let holds = match (case.must.contains(id), case.oracle) {
        (true, Oracle::Outcome) => before != Ending::Failed && after == Ending::Failed,
        (true, Oracle::None) => true,
        (false, Oracle::Outcome | Oracle::None) => before == Ending::Passed && after == Ending::Passed,
    };
    (!holds).then(|| format!("{id} was {before:?} before and {after:?} after"))
}

fn table(findings: &[Findings]) -> String {
    let mut lines = vec![format!("{:32} {:20} missed | extra | complaints", "case", "variant")];
    let mut explained = BTreeSet::new();
    for found in findings.iter().filter(|found| !found.is_clean()) {
        let joined = |list: &[String]| if list.is_empty() { "-".to_string() } else { list.join(", ") };
        lines.push(format!(
            "{:32} {:20} {} | {} | {}",
            found.case,
            found.variant,
            joined(&found.missed),
            joined(&found.extra),
            joined(&found.complaints)
        ));
        if !found.why.is_empty() {
            lines.push(format!("    extra because {}", found.why));
        }
        if explained.insert(&found.case) {
            lines.push(format!("    ({})", found.purpose));
        }
    }
    lines.join("\n")
}
