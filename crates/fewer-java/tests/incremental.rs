//! Incremental equals from scratch: whatever files come, change and go, a project that takes over the changes
//! knows what one knows that reads all files anew. And it does little for little changes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use fewer_core::{Digest, Fingerprints};
use fewer_java::{Level, Options, Program, SourceChange, SourceProject, read_source};
use proptest::prelude::*;

/// Few names, so that they hide, shadow and inherit each other all the time.
const NAMES: [&str; 5] = ["A", "B", "C", "D", "N"];
const PACKAGES: [&str; 3] = ["p", "q", "p.q"];

#[derive(Clone, Debug)]
struct Type {
    name: usize,
    parents: Vec<usize>,
    nested: Vec<(usize, Option<usize>)>,
    mentions: Vec<(usize, Option<usize>, usize)>,
}

#[derive(Clone, Debug)]
struct File {
    package: usize,
    imports: Vec<(usize, usize, usize)>,
    types: Vec<Type>,
    is_broken: bool,
}

fn types() -> impl Strategy<Value = Type> {
    let name = 0..NAMES.len();
    let nested = prop::collection::vec((name.clone(), prop::option::of(name.clone())), 0..3);
    let mentions = prop::collection::vec((name.clone(), prop::option::of(name.clone()), 0usize..6), 0..5);
    (name.clone(), prop::collection::vec(name, 0..3), nested, mentions)
        .prop_map(|(name, parents, nested, mentions)| Type { name, parents, nested, mentions })
}

fn file() -> impl Strategy<Value = File> {
    let imports = prop::collection::vec((0usize..4, 0..PACKAGES.len(), 0..NAMES.len()), 0..3);
    (0..PACKAGES.len(), imports, prop::collection::vec(types(), 1..3), prop::bool::weighted(0.05))
        .prop_map(|(package, imports, types, is_broken)| File { package, imports, types, is_broken })
}

impl File {
    fn text(&self) -> String {
        let mut text = format!("package {};\n", PACKAGES[self.package]);
        for &(kind, package, name) in &self.imports {
            let (package, name) = (PACKAGES[package], NAMES[name]);
            match kind {
                0 => writeln!(text, "import {package}.*;"),
                1 => writeln!(text, "import {package}.{name};"),
                2 => writeln!(text, "import static {package}.{name}.make;"),
                _ => writeln!(text, "import static {package}.{name}.*;"),
            }
            .unwrap();
        }
        for declared in &self.types {
            declared.write(&mut text);
        }
        if self.is_broken {
            text.push_str("class {{{ @");
        }
        text
    }
}

impl Type {
    fn write(&self, text: &mut String) {
        write!(text, "class {}", NAMES[self.name]).unwrap();
        for (index, &parent) in self.parents.iter().enumerate() {
            let keyword = if index == 0 { " extends" } else { " implements" };
            let keyword = if index > 1 { "," } else { keyword };
            write!(text, "{keyword} {}", NAMES[parent]).unwrap();
        }
        text.push_str(" {\n");
        for &(name, parent) in &self.nested {
            let parent = parent.map_or(String::new(), |parent| format!(" extends {}", NAMES[parent]));
            writeln!(text, "  static class {}{parent} {{ }}", NAMES[name]).unwrap();
        }
        for (index, &(name, inner, kind)) in self.mentions.iter().enumerate() {
            let inner = inner.map_or(String::new(), |inner| format!(".{}", NAMES[inner]));
            let named = format!("{}{inner}", NAMES[name]);
            match kind {
                0 => writeln!(text, "  {named} field{index};"),
                1 => writeln!(text, "  @org.junit.Test public void m{index}() {{ new {named}(); }}"),
                2 => writeln!(text, "  void m{index}() {{ {named}.make(); }}"),
                3 => writeln!(text, "  Object m{index}(Object o) {{ make(); return ({named}) o; }}"),
                4 => writeln!(text, "  Object m{index} = Class.forName(\"p.{named}\");"),
                _ => writeln!(text, "  Object m{index} = p.q.{named}.FIELD.x;"),
            }
            .unwrap();
        }
        text.push_str("}\n");
    }
}

type Known = (BTreeMap<String, Vec<Digest>>, Vec<(String, Digest)>, Vec<(String, Digest)>);

/// Everything a project knows, as names and fingerprints.
fn known(project: &SourceProject) -> Known {
    let program = Program { classes: project.classes().cloned().collect(), inputs: Vec::new() };
    let graph = program.analyse(Options::default()).graph;
    let fingerprints = Fingerprints::compute(&graph);
    let mut elements: BTreeMap<String, Vec<Digest>> = BTreeMap::new();
    for element in graph.elements() {
        let list = elements.entry(graph.name(element).to_string()).or_default();
        list.push(fingerprints.element(element));
        list.sort();
    }
    let tests = |fingerprints: &Fingerprints, graph: &fewer_core::Graph| {
        graph.tests().iter().map(|test| (test.id.to_string(), fingerprints.test(test))).collect()
    };
    let members = program.analyse(Options { level: Level::Member, ..Options::default() }).graph;
    (elements, tests(&fingerprints, &graph), tests(&Fingerprints::compute(&members), &members))
}

fn change(path: usize, file: Option<&File>) -> SourceChange {
    let facts = file.map(|file| Arc::new(read_source(file.text().as_bytes())));
    SourceChange { path: format!("src/F{path}.java"), module: "m".into(), facts }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_project_that_takes_over_changes_knows_what_a_fresh_one_knows(
        first in prop::collection::vec(file(), 1..6),
        edits in prop::collection::vec(prop::collection::vec((0usize..7, prop::option::weighted(0.8, file())), 1..3), 1..5),
    ) {
        let mut state: BTreeMap<usize, File> = first.into_iter().enumerate().collect();
        let mut project = SourceProject::new();
        project.update(state.iter().map(|(&path, file)| change(path, Some(file))).collect());
        for edit in edits {
            for (path, file) in &edit {
                match file {
                    Some(file) => drop(state.insert(*path, file.clone())),
                    None => drop(state.remove(path)),
                }
            }
            project.update(edit.iter().map(|(path, file)| change(*path, file.as_ref())).collect());
            let mut fresh = SourceProject::new();
            fresh.update(state.iter().map(|(&path, file)| change(path, Some(file))).collect());
            prop_assert_eq!(known(&project), known(&fresh));
        }
    }
}

fn facts(text: &str) -> Option<Arc<fewer_java::SourceFacts>> {
    Some(Arc::new(read_source(text.as_bytes())))
}

#[test]
fn a_change_costs_the_files_it_touches_and_those_that_use_what_it_declares() {
    let mut project = SourceProject::new();
    let file = |index: usize, body: &str| SourceChange {
        path: format!("p/C{index}.java"),
        module: "m".into(),
        facts: facts(&format!("package p; class C{index} {{ Object next = new C{}(); {body} }}", index + 1)),
    };
    let all = (0..500).map(|index| file(index, "")).collect();
    assert_eq!(project.update(all).resolved, 500);
    assert_eq!(project.update(vec![file(7, "int changed;")]).resolved, 1);
    let gone = SourceChange { path: "p/C9.java".into(), module: "m".into(), facts: None };
    assert_eq!(project.update(vec![gone]).resolved, 1, "C8 mentions C9");
    assert_eq!(project.update(vec![file(9, "")]).resolved, 2);
    let added = SourceChange {
        path: "p/New.java".into(),
        module: "m".into(),
        facts: facts("package p; class New extends C1 {}"),
    };
    assert_eq!(project.update(vec![added]).resolved, 1);
}

fn references(project: &SourceProject, class: &str) -> Vec<String> {
    let found = project.classes().find(|known| known.summary.name == class).unwrap();
    found.summary.texts_of(&found.summary.references).map(str::to_string).collect()
}

#[test]
fn a_superclass_that_inherits_from_elsewhere_changes_what_its_subclasses_name() {
    let change =
        |path: &str, text: &str| SourceChange { path: path.into(), module: "m".into(), facts: facts(text) };
    let mut project = SourceProject::new();
    project.update(vec![
        change("p/User.java", "package p; class User extends Middle { Object o = new N(); }"),
        change("p/Middle.java", "package p; class Middle extends Left { }"),
        change("p/Left.java", "package p; class Left { static class N { } }"),
        change("p/Right.java", "package p; class Right { static class N { } }"),
    ]);
    assert_eq!(references(&project, "p.User"), ["p.Left$N", "p.Middle"]);
    project.update(vec![change("p/Middle.java", "package p; class Middle extends Right { }")]);
    assert_eq!(references(&project, "p.User"), ["p.Middle", "p.Right$N"]);
}
