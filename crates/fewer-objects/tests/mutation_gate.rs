//! The mutation gate: small changes are made to the example library, each is built and all tests are run. Every
//! test whose outcome a change alters must have been selected. Real compiler, real tests, no judgement by source.
//!
//! `MUTANTS_PER_FILE=all cargo test --test mutation_gate` tries every mutant there is instead of a sample;
//! `MUTANTS_PER_CLANG=all` builds each by every clang instead of one, where bitcode is read; `MUTANTS_CSV=FILE` writes which test kills which mutant, `MUTANTS_PROJECT=DIR` mutates another state of the example.

mod listed;
mod memory_cache;
mod mutation;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use fewer_core::TestId;
use memory_cache::MemoryCache;
use mutation::examination::{Class, Classes, Examination, outcomes};
use mutation::mutants::{Kind, Mutant, mutants, sample};
use mutation::workshop::{BITCODE, Builder, MACHINE_CODE, Workshop, mutable_files};
use rayon::prelude::*;
use tempfile::TempDir;

/// How many mutants of each file are tried. A header's mutant compiles much more than a source file's.
const PER_SOURCE: usize = 7;
const PER_HEADER: usize = 2;

const LEAST_BUILT: usize = 80;
const LEAST_KILLED: f64 = 0.4;
const MOST_SELECTED: f64 = 0.6;

/// The project without a mutant.
#[derive(PartialEq, Debug)]
struct Base {
    examination: Examination,
    tests: BTreeSet<TestId>,
    classes: Classes,
}

/// A mutant that was built.
struct Trial {
    mutant: Mutant,
    selected: BTreeSet<TestId>,
    /// Tests that end otherwise than without the mutant.
    changed: BTreeSet<TestId>,
    missed: BTreeSet<TestId>,
    /// Tests that were not selected and end otherwise only when they share a process with others.
    disturbed: BTreeSet<TestId>,
}

/// What one worker did.
struct Shift {
    base: Base,
    trials: Vec<Trial>,
    not_compiling: Vec<Mutant>,
}

#[test]
fn every_test_whose_outcome_a_mutant_changes_was_selected() {
    let started = Instant::now();
    let directory = TempDir::new().expect("a temporary directory can be made");
    let queue = Mutex::new(chosen_mutants());
    let [first, second] = std::thread::scope(|scope| {
        ["first", "second"]
            .map(|name| directory.path().join(name))
            .map(|path| scope.spawn(|| work(path, MACHINE_CODE, &queue)))
            .map(|worker| worker.join().expect("the worker ends"))
    });
    assert_eq!(first.base, second.base, "two directories give the same fingerprints and outcomes");
    let trials = judge(vec![first, second], started);
    if let Some(path) = std::env::var_os("MUTANTS_CSV") {
        std::fs::write(&path, kills(&trials)).expect("the file of MUTANTS_CSV can be written");
    }
}

#[test]
fn through_bitcode_every_test_whose_outcome_a_mutant_changes_was_selected() {
    let started = Instant::now();
    let directory = TempDir::new().expect("a temporary directory can be made");
    let is_all = std::env::var("MUTANTS_PER_CLANG").is_ok_and(|value| value == "all");
    let dealt = |hand: usize| -> VecDeque<Mutant> {
        let mutants = chosen_mutants().into_iter().enumerate();
        mutants
            .filter(|(index, _)| is_all || index % BITCODE.len() == hand)
            .map(|(_, mutant)| mutant)
            .collect()
    };
    let shifts: Vec<Shift> = BITCODE
        .par_iter()
        .enumerate()
        .map(|(hand, &builder)| {
            let shift = work(directory.path().join(builder.compiler), builder, &Mutex::new(dealt(hand)));
            let tests = shift.base.tests.len();
            say(&format!(
                "{} {}: {}",
                builder.compiler,
                builder.flags,
                summary(&shift.trials, shift.not_compiling.len(), tests)
            ));
            shift
        })
        .collect();
    judge(shifts, started);
}

/// Fails if a test was missed, or if the trials show too little; gives the trials of all workers.
fn judge(shifts: Vec<Shift>, started: Instant) -> Vec<Trial> {
    let tests = shifts[0].base.tests.len();
    let not_compiling = shifts.iter().map(|shift| shift.not_compiling.len()).sum();
    let trials: Vec<Trial> = shifts.into_iter().flat_map(|shift| shift.trials).collect();
    say(&format!("mutation gate: {}", summary(&trials, not_compiling, tests)));
    say(&format!("in {:.0} s", started.elapsed().as_secs_f64()));
    let missed: usize = trials.iter().map(|trial| trial.missed.len()).sum();
    assert_eq!(missed, 0, "tests changed their outcome and were not selected: see above");
    assert!(trials.len() >= LEAST_BUILT, "only {} mutants were built", trials.len());
    assert!(killed_share(&trials) >= LEAST_KILLED, "too few mutants change anything: the gate shows little");
    assert!(selected_share(&trials, tests) < MOST_SELECTED, "selecting nearly everything misses nothing");
    trials
}

/// The mutants to try, the ones that take long first.
fn chosen_mutants() -> VecDeque<Mutant> {
    let is_all = std::env::var("MUTANTS_PER_FILE").is_ok_and(|value| value == "all");
    let (headers, sources): (Vec<_>, Vec<_>) =
        mutable_files().into_iter().partition(|(name, _)| name.ends_with(".hpp"));
    let of = |files: Vec<(String, String)>, count: usize| {
        let count = if is_all { usize::MAX } else { count };
        files.into_iter().flat_map(move |(name, text)| sample(mutants(&name, &text), count))
    };
    of(headers, PER_HEADER).chain(of(sources, PER_SOURCE)).collect()
}

fn work(directory: impl AsRef<Path>, builder: Builder, queue: &Mutex<VecDeque<Mutant>>) -> Shift {
    let workshop = Workshop::open(directory.as_ref(), builder);
    let kept = Arc::new(MemoryCache::default());
    let base = base(&workshop, &kept);
    let mut shift = Shift { base, trials: Vec::new(), not_compiling: Vec::new() };
    loop {
        let next = queue.lock().expect("no worker panics with the queue in hand").pop_front();
        let Some(mutant) = next else { return shift };
        let attempt = || attempt(workshop.build_directory(), &shift.base, &mutant, &kept);
        match workshop.with_mutant(&mutant, attempt) {
            Some(trial) => {
                report_misses(&trial);
                shift.trials.push(trial);
            }
            None => shift.not_compiling.push(mutant),
        }
    }
}

fn base(workshop: &Workshop, kept: &Arc<MemoryCache>) -> Base {
    let build = workshop.build_directory();
    let examination = Examination::of_build(build, None, kept);
    let tests = examination.tests();
    let classes = outcomes(build, &tests);
    assert!(!tests.is_empty(), "the example has tests");
    assert_eq!(examination.unmapped(), &BTreeSet::new(), "every test's reach is known");
    for (test, class) in &classes {
        assert!(matches!(class, Class::Passed | Class::Skipped), "{test} ends as {class:?} without a mutant");
    }
    Base { examination, tests, classes }
}

/// What becomes of the base's tests with the mutant that is built in the directory.
fn attempt(build: &Path, base: &Base, mutant: &Mutant, kept: &Arc<MemoryCache>) -> Trial {
    let examination = Examination::of_build(build, Some(&base.examination), kept);
    let selected = base.examination.selected(&examination);
    let changes = |tests: &BTreeSet<TestId>| -> BTreeSet<TestId> {
        let classes = outcomes(build, tests);
        tests.iter().filter(|test| classes[*test] != base.classes[*test]).cloned().collect()
    };
    let changed = changes(&base.tests);
    // A test that breaks memory may take its neighbours with it: a test's own outcome is the one it has alone.
    let (missed, disturbed) = changed
        .difference(&selected)
        .cloned()
        .partition(|test| !changes(&BTreeSet::from([test.clone()])).is_empty());
    Trial { mutant: mutant.clone(), selected, changed, missed, disturbed }
}

fn report_misses(trial: &Trial) {
    for test in &trial.missed {
        say(&format!("MISSED {test} by {}", trial.mutant));
    }
    for test in &trial.disturbed {
        say(&format!("{test} ends otherwise only in company of other tests with {}", trial.mutant));
    }
}

fn killed_share(trials: &[Trial]) -> f64 {
    trials.iter().filter(|trial| !trial.changed.is_empty()).count() as f64 / trials.len().max(1) as f64
}

/// The mean share of the tests that is selected.
fn selected_share(trials: &[Trial], tests: usize) -> f64 {
    let selected: usize = trials.iter().map(|trial| trial.selected.len()).sum();
    selected as f64 / (tests * trials.len()).max(1) as f64
}

fn summary(trials: &[Trial], not_compiling: usize, tests: usize) -> String {
    let mut of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut files = BTreeSet::new();
    for trial in trials {
        *of_kind.entry(trial.mutant.kind).or_default() += 1;
        files.insert(&trial.mutant.file);
    }
    let kinds: Vec<String> = of_kind.iter().map(|(kind, count)| format!("{kind:?} {count}")).collect();
    let changed: usize = trials.iter().map(|trial| trial.changed.len()).sum();
    format!(
        "{} mutants of {} files built ({}), {not_compiling} did not compile\n\
         {:.1} % changed the outcome of some test; of {tests} tests {:.1} % were selected on average, {:.1} % \
         changed their outcome\n\
         outcomes that changed: {changed}, of these not selected: {}",
        trials.len(),
        files.len(),
        kinds.join(", "),
        100.0 * killed_share(trials),
        100.0 * selected_share(trials, tests),
        100.0 * changed as f64 / (tests * trials.len()).max(1) as f64,
        trials.iter().map(|trial| trial.missed.len()).sum::<usize>(),
    )
}

/// Which test kills which mutant, a pair per line: `fewer reduce import --kind mutants` reads it.
fn kills(trials: &[Trial]) -> String {
    let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    let mut lines: Vec<String> = trials
        .iter()
        .flat_map(|trial| trial.changed.difference(&trial.disturbed).map(move |test| (test, &trial.mutant)))
        .map(|(test, mutant)| format!("{},{}\n", quoted(test.to_string()), quoted(mutant.to_string())))
        .collect();
    lines.sort();
    format!("test,requirement\n{}", lines.concat())
}

/// To the real standard output: what `println!` writes is kept back while a test passes.
fn say(text: &str) {
    writeln!(std::io::stdout().lock(), "{text}").expect("standard output can be written");
}
