//! An analysis that builds on what earlier ones kept finds what one from scratch finds, whatever was edited in
//! between and whatever became of what was kept. Real compiler, archiver and linker; random sequences of edits.

mod tools;

use std::fs;
use std::path::Path;

use fewer_core::Digest;
use fewer_objects::{Analysis, Given, NoCache, SummaryCache, scan};
use proptest::prelude::*;

use tools::{MemoryCache, run};

const UNITS: usize = 4;

/// What a unit's text is made from.
#[derive(Clone, Debug, Default)]
struct Unit {
    constant: u32,
    statements: u32,
    calls_next: bool,
    has_initialiser: bool,
    is_renamed: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Constant(usize, u32),
    Statements(usize, u32),
    Call(usize),
    Initialiser(usize),
    Rename(usize),
    /// Of the header that all units include.
    Inline(u32),
    /// A kept summary is gone, or damaged.
    Lose(usize),
    Damage(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..UNITS, 0u32..5).prop_map(|(unit, value)| Step::Constant(unit, value)),
        3 => (0..UNITS, 0u32..3).prop_map(|(unit, count)| Step::Statements(unit, count)),
        2 => (0..UNITS).prop_map(Step::Call),
        1 => (0..UNITS).prop_map(Step::Initialiser),
        1 => (0..UNITS).prop_map(Step::Rename),
        1 => (0u32..3).prop_map(Step::Inline),
        1 => any::<usize>().prop_map(Step::Lose),
        1 => any::<usize>().prop_map(Step::Damage),
    ]
}

/// The sources of two programs: units 0 and 1 in an archive that both use, the others in one program each.
#[derive(Clone, Default)]
struct Sources {
    units: [Unit; UNITS],
    inline_constant: u32,
}

impl Sources {
    fn header(&self) -> String {
        let constant = self.inline_constant;
        format!(
            "#pragma once\ntemplate <class T> T scaled(T value) {{ return value * 3 + {constant}; }}\n\
             struct Shape {{ virtual ~Shape() = default; virtual int area() const {{ return {constant}; }} }};\n"
        )
    }

    fn unit(&self, number: usize) -> String {
        let Unit { constant, statements, calls_next, has_initialiser, is_renamed } = &self.units[number];
        let mut text = String::from("#include \"shared.h\"\nint unit_0(); int unit_1();\n");
        let function = if *is_renamed && number == 1 { "other_1" } else { "local" };
        text += &format!("static int {function}(int x) {{ int sum = scaled(x) + {constant};\n");
        (0..*statements).for_each(|statement| text += &format!("sum += x * {statement};\n"));
        text += "return sum; }\n";
        if *has_initialiser {
            text += &format!("int started_{number} = {function}({number});\n");
        }
        let call = if *calls_next && number != 1 { " + unit_1()" } else { "" };
        text += &format!("int unit_{number}() {{ Shape shape; return {function}(shape.area()){call}; }}\n");
        if number >= 2 {
            text += &format!("int main() {{ return unit_{number}() + unit_0(); }}\n");
        }
        text
    }

    /// Whether a program differs. The linker takes unit 1 from the archive only if another calls it.
    fn differ_from(&self, before: &Sources) -> bool {
        let is_linked = |unit: &usize| *unit != 1 || self.calls_last();
        let is_edited = |unit: usize| before.unit(unit) != self.unit(unit);
        before.header() != self.header() || (0..UNITS).filter(is_linked).any(is_edited)
    }

    fn calls_last(&self) -> bool {
        [0, 2, 3].iter().any(|&unit| self.units[unit].calls_next)
    }

    fn edit(&mut self, step: &Step) {
        match *step {
            Step::Constant(unit, value) => self.units[unit].constant = value,
            Step::Statements(unit, count) => self.units[unit].statements = count,
            Step::Call(unit) => self.units[unit].calls_next ^= true,
            Step::Initialiser(unit) => self.units[unit].has_initialiser ^= true,
            Step::Rename(unit) => self.units[unit].is_renamed ^= true,
            Step::Inline(value) => self.inline_constant = value,
            Step::Lose(_) | Step::Damage(_) => {}
        }
    }
}

/// Builds what differs from the sources before.
fn build(directory: &Path, before: Option<&Sources>, sources: &Sources) {
    fs::create_dir_all(directory.join("build")).unwrap();
    fs::write(directory.join("shared.h"), sources.header()).unwrap();
    let is_header_new = before.is_none_or(|before| before.header() != sources.header());
    let is_new =
        |unit: usize| is_header_new || before.is_none_or(|before| before.unit(unit) != sources.unit(unit));
    for unit in (0..UNITS).filter(|&unit| is_new(unit)) {
        let (source, object) = (format!("unit_{unit}.cpp"), format!("build/unit_{unit}.o"));
        fs::write(directory.join(&source), sources.unit(unit)).unwrap();
        let flags = ["-O0", "-ffunction-sections", "-fdata-sections", "-c", &source, "-o", &object];
        run(directory, "g++", &flags);
    }
    if is_new(0) || is_new(1) {
        run(directory, "ar", &["rcsD", "build/libshared.a", "build/unit_0.o", "build/unit_1.o"]);
    }
    for unit in (2..UNITS).filter(|&unit| is_new(0) || is_new(1) || is_new(unit)) {
        let (object, program) = (format!("build/unit_{unit}.o"), format!("build/program_{unit}"));
        run(directory, "g++", &[&object, "build/libshared.a", "-o", &program]);
    }
}

/// Does to what was kept what the step says.
fn damage(kept: &MemoryCache, step: &Step) {
    let mut kept = kept.0.lock().unwrap();
    let mut keys: Vec<(String, Digest)> = kept.keys().cloned().collect();
    keys.sort();
    match *step {
        Step::Lose(place) => {
            kept.remove(&keys[place % keys.len()]);
        }
        Step::Damage(place) => {
            let bytes = kept.get_mut(&keys[place % keys.len()]).unwrap();
            bytes.truncate(bytes.len() / 2);
        }
        Step::Constant(..)
        | Step::Statements(..)
        | Step::Call(_)
        | Step::Initialiser(_)
        | Step::Rename(_)
        | Step::Inline(_) => {}
    }
}

/// Everything that may be decided by or shown: per element its name, content and fingerprint; per test its
/// fingerprint; how many references there are; what could not be seen.
#[derive(PartialEq, Debug)]
struct Findings {
    elements: Vec<(String, Digest, Digest)>,
    tests: Vec<(String, Digest)>,
    references: usize,
    notes: Vec<String>,
}

fn findings(directory: &Path, cache: &dyn SummaryCache) -> Findings {
    let build = directory.join("build");
    let tree = scan(&build, cache).unwrap();
    let analysis = Analysis::of_build(&build, &tree, Given::default());
    let notes = analysis.notes().to_vec();
    let tests =
        analysis.targets().iter().map(|target| analysis.program_test(target, "runs", false)).collect();
    let (graph, fingerprints) = analysis.into_graph(tests);
    let element =
        |element| (graph.name(element).to_string(), graph.content(element), fingerprints.element(element));
    let mut elements: Vec<_> = graph.elements().map(element).collect();
    elements.sort();
    let tests = graph.tests().iter().map(|test| (test.id.to_string(), fingerprints.test(test))).collect();
    Findings { elements, tests, references: graph.reference_count(), notes }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 20, failure_persistence: None, ..Default::default() })]

    #[test]
    fn after_any_edits_analysing_again_equals_analysing_from_scratch(
        steps in prop::collection::vec(step(), 3..8)
    ) {
        let directory = tempfile::tempdir().unwrap();
        let kept = MemoryCache::default();
        let mut sources = Sources::default();
        build(directory.path(), None, &sources);
        let mut last = findings(directory.path(), &kept);
        prop_assert_eq!(last.tests.len(), 2);
        for step in &steps {
            let before = sources.clone();
            sources.edit(step);
            damage(&kept, step);
            build(directory.path(), Some(&before), &sources);
            let again = findings(directory.path(), &kept);
            prop_assert_eq!(&again, &findings(directory.path(), &NoCache), "after {:?}", step);
            if sources.differ_from(&before) {
                prop_assert_ne!(&again.tests, &last.tests, "after {:?}", step);
            }
            last = again;
        }
    }
}
