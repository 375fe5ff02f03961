//! The mutation gate for Java: small changes are made to the example project, each is compiled and all tests are run.
//! Every test class whose outcome a change alters must have been selected, by the source and by the class reader, at
//! class and at member level. Real compiler, real tests.
//!
//! `MUTANTS_PER_FILE=all cargo test --test mutation_gate` tries every mutant there is instead of a sample.

mod support;

// Mutants are made of C++ and of Java alike.
#[path = "../../fewer-objects/tests/mutation/mutants.rs"]
mod mutants;
#[path = "../../fewer-objects/tests/mutation/tokens.rs"]
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use fewer_core::Mapping;
use fewer_java::{Analysed, Input, Level, Options, Program, SourceProject};
use mutants::{Kind, Mutant, mutants, sample};
use support::case::Reader;
use support::jars::JUNIT;
use support::programs::{change, files, from_classes, from_source, selected};
use support::trees::{Built, Ending, Tree, build};

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/java");
const MUTATED: &str = "src/main/java";
const PER_FILE: usize = 3;

const LEAST_COMPILED: usize = 60;
const LEAST_KILLED: f64 = 0.4;
const LOOKS: [(Reader, Level); 4] = [
    (Reader::Source, Level::Class),
    (Reader::Source, Level::Member),
    (Reader::Classes, Level::Class),
    (Reader::Classes, Level::Member),
];
/// Selecting nearly everything misses nothing: so much of the tests at most, on average, per look.
const MOST_SELECTED: [f64; 4] = [0.7, 0.6, 0.7, 0.6];

/// A mutant that compiles, with the test classes that end otherwise than without it.
struct Trial {
    mutant: Mutant,
    changed: BTreeSet<String>,
    /// Per look.
    selected: [BTreeSet<String>; 4],
}

/// The project without a mutant.
struct Base {
    project: SourceProject,
    inputs: Vec<Input>,
    endings: BTreeMap<String, Ending>,
    /// Per look.
    analysed: [Analysed; 4],
}

#[test]
fn every_test_class_whose_outcome_a_mutant_changes_was_selected() {
    let started = Instant::now();
    let directory = tempfile::tempdir().unwrap();
    let mutants = chosen_mutants();
    let mut trees = vec![tree(directory.path(), "base", None)];
    for (number, mutant) in mutants.iter().enumerate() {
        trees.push(tree(directory.path(), &number.to_string(), Some(mutant)));
    }
    let mut built = in_two_processes(&trees).into_iter();
    let mut base = base(&trees[0], built.next().unwrap());
    let mut trials = Vec::new();
    for ((mutant, tree), built) in mutants.into_iter().zip(&trees[1..]).zip(built) {
        if built.complaint.is_none() {
            trials.push(attempt(&mut base, tree, built, mutant));
        }
    }
    let tests = base.endings.len();
    say(&summary(&trials, trees.len() - 1 - trials.len(), tests));
    say(&format!("in {:.0} s", started.elapsed().as_secs_f64()));

    let missed: Vec<String> = trials.iter().flat_map(misses).collect();
    assert!(missed.is_empty(), "not selected, although the outcome changed:\n{}", missed.join("\n"));
    assert!(trials.len() >= LEAST_COMPILED, "only {} mutants compile", trials.len());
    assert!(killed_share(&trials) >= LEAST_KILLED, "too few mutants change anything: the gate shows little");
    for (look, most) in MOST_SELECTED.iter().enumerate() {
        let share = selected_share(&trials, look, tests);
        assert!(share <= *most, "{:?} select {share:.2} of all tests", LOOKS[look]);
    }
}

#[test]
fn a_test_that_takes_all_time_or_all_memory_is_not_blamed_on_others() {
    let directory = tempfile::tempdir().unwrap();
    let class = |name: &str, body: &str| {
        let text = format!("class {name} {{ @org.junit.jupiter.api.Test void test() {{ {body} }} }}");
        fs::write(directory.path().join(format!("test/{name}.java")), text).unwrap();
    };
    fs::create_dir(directory.path().join("test")).unwrap();
    class(
        "ATakesMemory",
        "var all = new java.util.ArrayList<long[]>(); while (true) all.add(new long[1 << 20]);",
    );
    class("BTakesTime", "while (true) Thread.onSpinWait();");
    class("CPasses", "");
    class("DFails", "throw new AssertionError();");
    let tree = Tree {
        sources: directory.path().to_path_buf(),
        classes: directory.path().join("classes"),
        run: true,
        replaced: None,
    };
    let built = build(&[tree], JUNIT).remove(0);
    assert_eq!(built.complaint, None);
    let expected = [
        ("ATakesMemory", Ending::Failed),
        ("BTakesTime", Ending::Failed),
        ("CPasses", Ending::Passed),
        ("DFails", Ending::Failed),
    ];
    assert_eq!(built.endings, expected.map(|(name, ending)| (name.to_string(), ending)).into());
}

fn chosen_mutants() -> Vec<Mutant> {
    let is_all = std::env::var("MUTANTS_PER_FILE").is_ok_and(|value| value == "all");
    let count = if is_all { usize::MAX } else { PER_FILE };
    let mut chosen = Vec::new();
    for path in files(&Path::new(PROJECT).join(MUTATED)) {
        let file = format!("{MUTATED}/{path}");
        let text = fs::read_to_string(Path::new(PROJECT).join(&file)).unwrap();
        chosen.extend(sample(mutants(&file, &text), count));
    }
    chosen
}

/// The project, with a mutant's file in the place of its own.
fn tree(directory: &Path, name: &str, mutant: Option<&Mutant>) -> Tree {
    let replaced = mutant.map(|mutant| {
        let text = fs::read_to_string(Path::new(PROJECT).join(&mutant.file)).unwrap();
        // javac wants a public class in a file of its name.
        let file = directory.join(name).join(Path::new(&mutant.file).file_name().unwrap());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, mutant.apply(&text)).unwrap();
        (mutant.file.clone(), file)
    });
    let classes = directory.join(name).join("classes");
    Tree { sources: Path::new(PROJECT).canonicalize().unwrap(), classes, run: true, replaced }
}

fn in_two_processes(trees: &[Tree]) -> Vec<Built> {
    let (first, second) = trees.split_at(trees.len() / 2);
    std::thread::scope(|scope| {
        let workers = [first, second].map(|half| scope.spawn(|| build(half, JUNIT)));
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

fn base(tree: &Tree, built: Built) -> Base {
    assert_eq!(built.complaint, None, "the example does not compile");
    let failed: Vec<&String> =
        built.endings.iter().filter(|(_, ending)| **ending == Ending::Failed).map(|(name, _)| name).collect();
    assert!(failed.is_empty(), "the example's tests fail: {failed:?}");
    let (project, inputs) = from_source(&tree.sources.join("src"));
    let analysed = looks(&project, &inputs, &tree.classes);
    for (analysed, look) in analysed.iter().zip(LOOKS) {
        let tests: BTreeSet<&String> = analysed.graph.tests().iter().map(|test| &test.id.name).collect();
        assert_eq!(tests, built.endings.keys().collect(), "{look:?} knows other tests than JUnit");
        assert!(analysed.graph.tests().iter().all(|test| test.mapping == Mapping::Mapped), "{look:?}");
    }
    Base { project, inputs, endings: built.endings, analysed }
}

fn looks(project: &SourceProject, inputs: &[Input], classes: &Path) -> [Analysed; 4] {
    let source = Program { classes: project.classes().cloned().collect(), inputs: inputs.to_vec() };
    let compiled = from_classes(classes);
    LOOKS.map(|(reader, level)| {
        let program = match reader {
            Reader::Source => &source,
            Reader::Classes => &compiled,
        };
        program.analyse(Options { level, ..Options::default() })
    })
}

fn attempt(base: &mut Base, tree: &Tree, built: Built, mutant: Mutant) -> Trial {
    let original = fs::read_to_string(Path::new(PROJECT).join(&mutant.file)).unwrap();
    let path = mutant.file.strip_prefix("src/").unwrap();
    base.project.update(vec![change(path, mutant.apply(&original).as_bytes())]);
    let after = looks(&base.project, &base.inputs, &tree.classes);
    base.project.update(vec![change(path, original.as_bytes())]);
    let names = base.endings.keys().filter(|name| built.endings.get(*name) != base.endings.get(*name));
    let changed = names.cloned().collect();
    let selected = std::array::from_fn(|look| selected(&base.analysed[look], &after[look]));
    Trial { mutant, changed, selected }
}

fn misses(trial: &Trial) -> Vec<String> {
    let mut missed = Vec::new();
    for (look, selected) in LOOKS.iter().zip(&trial.selected) {
        for test in trial.changed.difference(selected) {
            missed.push(format!("{look:?}: {test} by {}", trial.mutant));
        }
    }
    missed
}

fn killed_share(trials: &[Trial]) -> f64 {
    trials.iter().filter(|trial| !trial.changed.is_empty()).count() as f64 / trials.len().max(1) as f64
}

/// The mean share of the test classes that one look selects.
fn selected_share(trials: &[Trial], look: usize, tests: usize) -> f64 {
    let selected: usize = trials.iter().map(|trial| trial.selected[look].len()).sum();
    selected as f64 / (tests * trials.len()).max(1) as f64
}

fn summary(trials: &[Trial], not_compiling: usize, tests: usize) -> String {
    let mut of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
    for trial in trials {
        *of_kind.entry(trial.mutant.kind).or_default() += 1;
    }
    let kinds: Vec<String> = of_kind.iter().map(|(kind, count)| format!("{kind:?} {count}")).collect();
    let changed: usize = trials.iter().map(|trial| trial.changed.len()).sum();
    let mut text = format!(
        "mutation gate: {} mutants compile ({}), {not_compiling} do not\n\
         {:.1} % changed the outcome of some of {tests} test classes, {changed} outcomes in all ({:.1} %)",
        trials.len(),
        kinds.join(", "),
        100.0 * killed_share(trials),
        100.0 * changed as f64 / (tests * trials.len()).max(1) as f64,
    );
    for (look, (reader, level)) in LOOKS.iter().enumerate() {
        let missed: usize =
            trials.iter().map(|trial| trial.changed.difference(&trial.selected[look]).count()).sum();
        let share = 100.0 * selected_share(trials, look, tests);
        text += &format!("\n{reader:?}, {level:?}: {share:.1} % selected, {missed} missed");
    }
    text
}

/// To the real standard output: what `println!` writes is kept back while a test passes.
fn say(text: &str) {
    writeln!(std::io::stdout().lock(), "{text}").expect("standard output can be written");
}
