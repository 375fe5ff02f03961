//! A compiled Java project as a part of the state at hand: its graph, its tests with their classes, and what it takes
//! to run them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fewer_core::{Decision, Digest, Fingerprints, Plan, TestId};
use fewer_java::summary::top_level_of;
use fewer_java::{Class, Dependencies, Level};
use fewer_runners::java::{ClassTest, ModuleTests, ToolCommand, surefire_excludes};

use super::compiled::{Compiled, CompiledModule, tree_digest};
use super::inputs::build_descriptions;
use crate::part::{Means, Part, snapshot};
use crate::record::Manifest;
use crate::session::Session;
use crate::stale::{BUILD_FIRST, Outdated};

/// So many notes of the analysis are shown.
const SHOWN_NOTES: usize = 5;

/// What it takes to run test classes.
pub struct JavaMeans {
    pub tool: ToolCommand,
    pub modules: Vec<CompiledModule>,
    /// The top-level classes of each test.
    classes: BTreeMap<TestId, Vec<String>>,
    /// By top-level class the top-level classes that it, or what is nested in it, inherits from.
    bases: BTreeMap<String, BTreeSet<String>>,
    /// Of everything below the directories of classes, as it was analysed.
    content: Digest,
}

impl JavaMeans {
    /// The tests of the plan as the runner takes them, in modules that have any.
    pub fn work(&self, plan: &Plan) -> Vec<ModuleTests> {
        let mut modules: Vec<ModuleTests> = self.modules.iter().map(empty).collect();
        for test in &plan.tests {
            let Some(classes) = self.classes.get(&test.id) else { continue };
            let Some(module) = modules.iter_mut().find(|module| module.target == test.id.target) else {
                continue;
            };
            let bases = classes.iter().filter_map(|class| self.bases.get(class)).flatten().cloned().collect();
            let class_test = ClassTest { test: test.id.clone(), classes: classes.clone(), bases };
            match test.decision {
                Decision::Run => module.selected.push(class_test),
                Decision::Reuse => module.others.push(class_test),
                // The framework itself leaves it out, and reports it.
                Decision::LeftOut => module.others.push(class_test),
            }
        }
        modules.retain(|module| {
            !(module.selected.is_empty() && module.others.is_empty() && module.goals.is_empty())
        });
        modules
    }

    /// The file for `-Dsurefire.excludesFile`.
    pub fn surefire_excludes(&self, plan: &Plan) -> String {
        surefire_excludes(&self.work(plan))
    }

    /// Per module a line: its test task, and an option per class that runs.
    pub fn gradle_arguments(&self, plan: &Plan) -> String {
        let mut text = String::new();
        for module in self.work(plan).iter().filter(|module| !module.selected.is_empty()) {
            text.push_str(module.task.as_deref().unwrap_or("test"));
            for class in module.selected.iter().flat_map(|test| &test.classes) {
                text.push_str(&format!(" --tests {class}"));
            }
            text.push('\n');
        }
        text
    }

    /// Whether the classes are still those that were analysed.
    pub fn is_unchanged(&self) -> bool {
        content(&self.modules) == self.content
    }

    pub fn has_test(&self, test: &TestId) -> bool {
        self.classes.contains_key(test)
    }

    /// Whether there is such a class, and not only such a name in a report.
    pub fn has_class(&self, name: &str) -> bool {
        self.bases.contains_key(name)
    }

    pub fn has_module(&self, target: &str) -> bool {
        self.modules.iter().any(|module| module.name == target)
    }
}

impl Compiled {
    pub fn part(self, session: &Session<'_>, has_built: bool) -> anyhow::Result<Part> {
        let phase = session.timings.phase("link the graph");
        let (graph, seen) = self.record.graph(&self.program);
        let fingerprints = Fingerprints::compute(&graph);
        drop(phase);
        session.go_on()?;
        let circumstances: BTreeMap<TestId, Digest> = match self.record.circumstances() {
            Some(digest) => graph.tests().iter().map(|test| (test.id.clone(), digest)).collect(),
            None => BTreeMap::new(),
        };
        let told: BTreeMap<&TestId, &Vec<String>> =
            self.record.told().iter().map(|test| (&test.id, &test.classes)).collect();
        let classes = graph.tests().iter().map(|test| {
            let classes =
                told.get(&test.id).map_or_else(|| vec![test.id.name.clone()], |classes| (*classes).clone());
            (test.id.clone(), classes)
        });
        let classes = classes.collect();
        let outdated = if has_built { None } else { self.outdated_file(session) };
        let manifest = Manifest::of_java(&self.program.classes, &self.keys, &self.record);
        let mut notes = shown(seen, session.console.is_verbose());
        notes.extend(self.notes.iter().cloned());
        notes.extend(self.unsafe_note());
        notes.extend(self.not_run_note());
        if graph.tests().is_empty() {
            notes.push("no tests found in the compiled classes. `fewer doctor` says more".to_string());
        }
        let content = content(&self.modules);
        let bases = bases(&self.program.classes);
        let means = JavaMeans { tool: self.tool, modules: self.modules, classes, bases, content };
        Ok(Part {
            snapshot: snapshot(&graph, &fingerprints, &circumstances),
            graph,
            starters: BTreeMap::new(),
            circumstances,
            manifest,
            means: Means::Java(means),
            outdated,
            notes,
            incomplete: None,
            declared: BTreeSet::new(),
        })
    }

    fn outdated_file(&self, session: &Session<'_>) -> Option<Outdated> {
        let project = &session.project;
        let (module, file) = self.outdated(project, &build_descriptions(project))?;
        let fix = BUILD_FIRST.to_string();
        let object = format!("what is compiled of {module}");
        Some(Outdated { program: module, object, file, is_certain: true, fix })
    }

    fn not_run_note(&self) -> Option<String> {
        let named: Vec<&str> = self.not_run.iter().take(SHOWN_NOTES).map(String::as_str).collect();
        let more = self.not_run.len() - named.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        (!named.is_empty()).then(|| {
            format!(
                "the build has test runs that fewer does not start: {}{more}. Start them yourself",
                named.join(", ")
            )
        })
    }

    fn unsafe_note(&self) -> Option<String> {
        match (self.record.options.dependencies, self.record.options.level) {
            (Dependencies::Firewall, Level::Class | Level::Member) => Some(
                "--dependencies firewall does not see what is loaded by name, nor resources: tests may be left out that \
                 should run. Its outcomes are not reused by other modes"
                    .to_string(),
            ),
            (Dependencies::Full, Level::Class | Level::Member) => None,
        }
    }
}

/// By top-level class what it and what is nested in it inherit from, wherever it is declared, itself left out.
fn bases(classes: &[Class]) -> BTreeMap<String, BTreeSet<String>> {
    let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for class in classes {
        let supers = class.summary.texts_of(&class.summary.supers).map(top_level_of);
        direct.entry(top_level_of(&class.summary.name)).or_default().extend(supers);
    }
    let all = |class: &str| {
        let mut found: BTreeSet<String> = BTreeSet::new();
        let mut open = vec![class];
        while let Some(next) = open.pop() {
            let supers = direct.get(next).into_iter().flatten();
            let known = supers.filter(|base| direct.contains_key(*base) && **base != class);
            open.extend(known.filter(|base| found.insert(base.to_string())));
        }
        found
    };
    direct.keys().map(|class| (class.to_string(), all(class))).collect()
}

fn empty(module: &CompiledModule) -> ModuleTests {
    let layout = &module.layout;
    let entries = layout.test_classes.iter().chain(&layout.classes).cloned();
    let class_path: Vec<PathBuf> =
        entries.chain(layout.dependencies.iter().map(|dependency| dependency.path.clone())).collect();
    ModuleTests {
        target: module.name.clone(),
        directory: layout.directory.clone(),
        task: layout.task.clone(),
        class_path,
        selected: Vec::new(),
        others: Vec::new(),
        goals: layout.goals.clone(),
        has_excludes: layout.has_excludes,
    }
}

fn content(modules: &[CompiledModule]) -> Digest {
    let roots: BTreeSet<&PathBuf> = modules
        .iter()
        .flat_map(|module| module.layout.classes.iter().chain(&module.layout.test_classes))
        .collect();
    tree_digest(roots.into_iter())
}

fn shown(mut notes: Vec<String>, is_verbose: bool) -> Vec<String> {
    if notes.len() > SHOWN_NOTES && !is_verbose {
        let more = notes.len() - SHOWN_NOTES;
        notes.truncate(SHOWN_NOTES);
        notes.push(format!("{more} more classes may load what is not seen: --verbose names them"));
    }
    notes
}
