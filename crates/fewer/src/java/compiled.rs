//! A Java project as it was compiled: its classes from directories and jars, by module, and everything else that its
//! tests depend on. What is selected is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;
use fewer_core::{Digest, DigestBuilder, Domain, TestId};
use fewer_java::summary::top_level_of;
use fewer_java::{Class, ClassRoot, Input, Options, Program, read_class_path, suspected_tests};
use fewer_runners::java::{Layout, Module, Tool, ToolCommand};

use super::console;
use super::inputs::{Surroundings, inputs};
use super::modules::ROOT;
use super::record::{NamedTest, Record};
use super::tool::{layout, layout_file, workshop};
use crate::project::Project;
use crate::records::UNSEEN_FILE;
use crate::session::{Session, Starts};

const TREE: Domain = Domain::new("java.tree");

/// The name of the test that stands for the classes of a module that only its build tool can tell to be tests.
pub const SUSPECTS: &str = "*";

/// A module with its name as the target of tests: its directory below the project's.
#[derive(Clone, Debug)]
pub struct CompiledModule {
    pub name: String,
    pub layout: Module,
}

pub struct Compiled {
    pub tool: ToolCommand,
    pub modules: Vec<CompiledModule>,
    pub program: Program,
    /// Under which the store keeps each class.
    pub keys: Vec<Digest>,
    pub record: Record,
    /// Test runs of the build that are not fewer's to start.
    pub not_run: Vec<String>,
    pub notes: Vec<String>,
}

/// What reading one module gives.
#[derive(Default)]
struct Read {
    classes: Vec<Class>,
    keys: Vec<Digest>,
    /// By root.
    resources: BTreeMap<PathBuf, Vec<Input>>,
    /// Indexes of the classes below test roots.
    test_classes: HashSet<u32>,
}

impl Compiled {
    /// Reads what the tool left.
    pub fn read(session: &Session<'_>, tool: ToolCommand, options: Options) -> anyhow::Result<Compiled> {
        let project = &session.project;
        let layout = match layout(project, &tool)? {
            Some(layout) if !layout.modules.is_empty() => layout,
            Some(_) | None => bail!(
                "nothing is known yet of the project's modules and class paths, because {} has not been run through fewer: \
                 `fewer run` or `fewer select --build` does so",
                tool.program.display()
            ),
        };
        // Build tools tell it with the layout. It counts for fingerprints alone, which nobody compares where nothing is started.
        let java = match (tool.tool, session.starts) {
            (Tool::Console, Starts::Project) => console::java(&tool)?,
            (Tool::Console, Starts::Nothing) | (Tool::Maven | Tool::Gradle, _) => layout.java.clone(),
        };
        let phase = session.timings.phase("read classes");
        let modules = named_modules(project, layout.clone());
        let mut notes = Vec::new();
        let read = read_modules(session, &modules, &mut notes)?;
        drop(phase);
        session.go_on()?;
        let _phase = session.timings.phase("read inputs");
        let surroundings = Surroundings {
            project,
            tool: &tool,
            java: &java,
            modules: &modules,
            classes: &read.classes,
            resources: &read.resources,
        };
        let inputs = inputs(&surroundings)?;
        let told = told_tests(project, &read);
        let record = Record::new(options, inputs.clone(), told);
        let program = Program { classes: read.classes, inputs };
        Ok(Compiled { tool, modules, program, keys: read.keys, record, not_run: layout.not_run, notes })
    }

    /// Where builds leave things.
    pub fn build_directories(&self) -> Vec<PathBuf> {
        self.modules.iter().map(|module| module.layout.build_directory.clone()).collect()
    }

    /// Of all classes and inputs.
    pub fn digest(&self) -> Digest {
        let mut digest = DigestBuilder::new(TREE);
        for (class, key) in self.program.classes.iter().zip(&self.keys) {
            digest.text(&class.module).digest(*key);
        }
        for input in &self.program.inputs {
            digest.text(&input.name).digest(input.digest);
        }
        digest.finish()
    }

    /// A source or a description of the build that is newer than what was compiled, with the module.
    pub fn outdated(&self, project: &Project, descriptions: &[PathBuf]) -> Option<(String, PathBuf)> {
        for module in &self.modules {
            let Some(compiled) = newest(module.layout.classes.iter().chain(&module.layout.test_classes))
            else {
                continue;
            };
            let sources = module.layout.sources.iter().flat_map(|root| files_below(root));
            if let Some(file) =
                sources.into_iter().find(|file| modified(file).is_some_and(|at| at > compiled))
            {
                return Some((module.name.clone(), file));
            }
        }
        let told = modified(&layout_file(project))?;
        let newer = descriptions.iter().find(|file| modified(file).is_some_and(|at| at > told))?;
        Some(("the class path".to_string(), newer.clone()))
    }
}

/// Remembers classes that the build tool ran as tests although nothing in them says so.
pub fn remember_unseen(project: &Project, tests: &[TestId]) -> std::io::Result<()> {
    let mut all = unseen(project);
    all.extend(tests.iter().cloned());
    let lines: String = all.iter().map(|id| format!("{id}\n")).collect();
    fs::create_dir_all(workshop(project))?;
    fs::write(project.store_directory().join(UNSEEN_FILE), lines)
}

/// Of the content of everything below some directories.
pub fn tree_digest<'p>(roots: impl Iterator<Item = &'p PathBuf>) -> Digest {
    let mut digest = DigestBuilder::new(TREE);
    for root in roots {
        for file in files_below(root) {
            digest.text(&file.to_string_lossy());
            digest.digest(fewer_files::digest_of_anything(TREE, &file).unwrap_or_default());
        }
    }
    digest.finish()
}

/// Every file below a directory, sorted; nothing if it is not there. Links to directories are not followed.
pub fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    files.sort();
    files
}

fn unseen(project: &Project) -> BTreeSet<TestId> {
    let text = fewer_files::read_to_string(&project.store_directory().join(UNSEEN_FILE)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn named_modules(project: &Project, layout: Layout) -> Vec<CompiledModule> {
    let name = |module: &Module| {
        let real = module.directory.canonicalize().unwrap_or_else(|_| module.directory.clone());
        let below = real.strip_prefix(&project.root).map(Path::to_path_buf).unwrap_or(real);
        if below.as_os_str().is_empty() { ROOT.to_string() } else { below.to_string_lossy().into_owned() }
    };
    layout.modules.into_iter().map(|layout| CompiledModule { name: name(&layout), layout }).collect()
}

fn read_modules(
    session: &Session<'_>,
    modules: &[CompiledModule],
    notes: &mut Vec<String>,
) -> anyhow::Result<Read> {
    let cache = session.summaries();
    let mut read = Read::default();
    for module in modules {
        let tests = module.layout.test_classes.iter().map(|root| (root, true));
        let all = module.layout.classes.iter().map(|root| (root, false)).chain(tests);
        for (root, is_test) in all.filter(|(root, _)| root.exists()) {
            let from = ClassRoot { path: root.clone(), module: module.name.clone() };
            let found = read_class_path(std::slice::from_ref(&from), &**cache)?;
            let first = read.classes.len() as u32;
            read.classes.extend(found.classes);
            read.keys.extend(found.keys);
            read.resources.insert(root.clone(), found.resources);
            if is_test {
                read.test_classes.extend(first..read.classes.len() as u32);
            }
        }
    }
    notes.extend(cache.take_problem().map(|problem| format!("summaries of classes are not kept: {problem}")));
    Ok(read)
}

/// Tests that nothing in their classes tells: those seen to run, and per module all that may be.
fn told_tests(project: &Project, read: &Read) -> Vec<NamedTest> {
    let suspects = suspected_tests(&read.classes);
    let unseen = unseen(project);
    let mut told: Vec<NamedTest> = Vec::new();
    let mut by_module: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for index in suspects.into_iter().filter(|index| read.test_classes.contains(index)) {
        let class = &read.classes[index as usize];
        let id = TestId::new(&*class.module, &class.summary.name);
        if !unseen.contains(&id) {
            by_module.entry(&class.module).or_default().push(id.name);
        }
    }
    for id in unseen {
        let name = top_level_of(&id.name).to_string();
        told.push(NamedTest { id, classes: vec![name] });
    }
    told.extend(
        by_module
            .into_iter()
            .map(|(module, classes)| NamedTest { id: TestId::new(module, SUSPECTS), classes }),
    );
    told
}

fn newest<'p>(roots: impl Iterator<Item = &'p PathBuf>) -> Option<SystemTime> {
    roots.flat_map(|root| files_below(root)).filter_map(|file| modified(&file)).max()
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}
