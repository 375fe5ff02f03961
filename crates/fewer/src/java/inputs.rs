//! What the tests of a compiled Java project depend on beside classes: resources on their class path, dependencies,
//! the JDK, files of the build, files that tests may open, variables.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_java::{Class, Input, InputKind};
use fewer_runners::java::{Dependency, ToolCommand};
use rayon::prelude::*;

use super::compiled::CompiledModule;
use super::modules::{BuildText, Modules, ROOT};
use super::roles::{Role, is_in_data_directory, role};
use crate::data_files::{self, is_for_people, is_hidden};
use crate::project::Project;

const DEPENDENCY: Domain = Domain::new("java.dependency");
const JDK: Domain = Domain::new("java.jdk");
const ARGUMENTS: Domain = Domain::new("java.arguments");
const FILE: Domain = Domain::new("java.input.file");

/// Nothing but the content of larger files counts.
const LARGEST_LOOKED_AT: u64 = 16 << 20;

/// What is known when inputs are looked for.
pub struct Surroundings<'a> {
    pub project: &'a Project,
    pub tool: &'a ToolCommand,
    pub java: &'a str,
    pub modules: &'a [CompiledModule],
    pub classes: &'a [Class],
    /// By directory of classes.
    pub resources: &'a BTreeMap<PathBuf, Vec<Input>>,
}

/// Everything, in a fixed order.
pub fn inputs(surroundings: &Surroundings<'_>) -> anyhow::Result<Vec<Input>> {
    let mut inputs = class_path(surroundings)?;
    inputs.extend(files(surroundings)?);
    inputs.push(setting("JDK", Digest::of(JDK, surroundings.java.as_bytes()), None));
    let arguments = &surroundings.tool.arguments;
    if !arguments.is_empty() {
        let mut digest = DigestBuilder::new(ARGUMENTS);
        for argument in arguments {
            digest.text(argument);
        }
        inputs.push(setting("arguments of the build tool (java.arguments)", digest.finish(), None));
    }
    let variables = data_files::variables(surroundings.project);
    inputs.extend(variables.into_iter().map(|variable| setting(&variable.name, variable.digest, None)));
    Ok(inputs)
}

/// The files that describe the build: absolute paths.
pub fn build_descriptions(project: &Project) -> Vec<PathBuf> {
    let is_description = |path: &PathBuf| match role(&path.to_string_lossy()) {
        Role::Module | Role::Build | Role::Setting => true,
        Role::Source | Role::Foreign | Role::Resource | Role::Nothing => false,
    };
    let listed = data_files::listed(project).into_iter().filter(is_description);
    listed.map(|path| project.root.join(path)).collect()
}

fn setting(name: &str, digest: Digest, module: Option<&str>) -> Input {
    Input { name: name.to_string(), digest, kind: InputKind::Setting, module: module.map(str::to_string) }
}

/// Per module the resources of its own and of the modules that it uses, and its other dependencies.
fn class_path(surroundings: &Surroundings<'_>) -> anyhow::Result<Vec<Input>> {
    let owners = Owners::of(surroundings.modules);
    let outside: BTreeSet<&PathBuf> = surroundings
        .modules
        .iter()
        .flat_map(|module| &module.layout.dependencies)
        .map(|dependency| &dependency.path)
        .filter(|path| owners.module_of(path).is_none())
        .collect();
    let outside: Vec<&PathBuf> = outside.into_iter().collect();
    let digests: HashMap<&PathBuf, Digest> = outside
        .par_iter()
        .map(|path| Ok((*path, content(path)?)))
        .collect::<anyhow::Result<HashMap<&PathBuf, Digest>>>()?;
    let mut inputs = Vec::new();
    for module in surroundings.modules {
        let layout = &module.layout;
        let mut roots: Vec<&PathBuf> = layout.classes.iter().chain(&layout.test_classes).collect();
        for dependency in &layout.dependencies {
            match owners.module_of(&dependency.path) {
                Some(owner) => roots.extend(owner.roots_at(&dependency.path)),
                None => inputs.push(external(dependency, digests[&dependency.path], &module.name)),
            }
        }
        let mut seen = HashSet::new();
        for root in roots.into_iter().filter(|root| seen.insert(*root)) {
            let found = surroundings.resources.get(root).into_iter().flatten();
            inputs.extend(found.map(|input| Input { module: Some(module.name.clone()), ..input.clone() }));
        }
    }
    Ok(inputs)
}

fn external(dependency: &Dependency, content: Digest, module: &str) -> Input {
    let digest = DigestBuilder::new(DEPENDENCY).text(&dependency.version).digest(content).finish();
    setting(&format!("dependency {}", dependency.name), digest, Some(module))
}

fn content(path: &Path) -> anyhow::Result<Digest> {
    if path.is_dir() {
        return Ok(super::compiled::tree_digest(std::iter::once(&path.to_path_buf())));
    }
    fewer_files::digest_of_anything(DEPENDENCY, path)
        .with_context(|| format!("{} is on the class path and cannot be read: build again", path.display()))
}

/// Which module made what is on a class path.
struct Owners<'m> {
    modules: &'m [CompiledModule],
}

impl<'m> Owners<'m> {
    fn of(modules: &'m [CompiledModule]) -> Owners<'m> {
        Owners { modules }
    }

    fn module_of(&self, path: &Path) -> Option<&'m CompiledModule> {
        let is_in = |module: &&CompiledModule| {
            path.starts_with(&module.layout.build_directory)
                || module.layout.classes.iter().any(|root| path == root)
        };
        let holding = self.modules.iter().filter(is_in);
        holding.max_by_key(|module| module.layout.build_directory.components().count())
    }
}

impl CompiledModule {
    /// The directories behind an entry of another module's class path; a jar of tests may hold both.
    fn roots_at(&self, path: &Path) -> Vec<&PathBuf> {
        let all = || self.layout.classes.iter().chain(&self.layout.test_classes);
        let exact: Vec<&PathBuf> = all().filter(|root| *root == path).collect();
        if exact.is_empty() { all().collect() } else { exact }
    }
}

/// Files of the build, and files that tests may open: by the settings if they say, else those that are no code.
fn files(surroundings: &Surroundings<'_>) -> anyhow::Result<Vec<Input>> {
    let project = surroundings.project;
    let listed: Vec<PathBuf> =
        data_files::listed(project).into_iter().filter(|path| !is_built(surroundings, path)).collect();
    let (modules, named_by_build) = modules(surroundings, &listed)?;
    let sorter = Sorter {
        named: names_in(surroundings.classes),
        named_by_build,
        java_tops: java_tops(surroundings, &modules),
        modules: &modules,
        surroundings,
    };
    let read: Vec<Input> =
        listed.par_iter().filter_map(|path| input(surroundings, path, sorter.wanted(path)?)).collect();
    let mut inputs = Vec::new();
    for input in read {
        match modules.users(modules.of(&input.name)) {
            Some(users) => {
                inputs.extend(users.map(|user| Input { module: Some(user.to_string()), ..input.clone() }));
            }
            None => inputs.push(input),
        }
    }
    Ok(inputs)
}

/// A file of the project with its content; what is no file that can be read counts by what it is. `None` if nothing is
/// there, or if it is known from elsewhere.
fn input(surroundings: &Surroundings<'_>, path: &Path, wanted: Wanted) -> Option<Input> {
    let file = surroundings.project.root.join(path);
    let bytes = fewer_files::read_at_most(&file, LARGEST_LOOKED_AT).ok();
    let is_known = |bytes: &Vec<u8>| is_copied(surroundings, path, bytes) || data_files::is_own_report(bytes);
    if bytes.as_ref().is_some_and(is_known) {
        return None;
    }
    let name = path.to_string_lossy().into_owned();
    let kind = match wanted {
        Wanted::Setting => InputKind::Setting,
        Wanted::Data => InputKind::of_file(&name, bytes.as_deref().unwrap_or_default()),
    };
    let digest = match bytes {
        Some(bytes) => Digest::of(FILE, &bytes),
        None => fewer_files::digest_of_anything(FILE, &file)?,
    };
    Some(Input { digest, kind, module: None, name })
}

/// Why a file counts.
#[derive(Clone, Copy)]
enum Wanted {
    Setting,
    Data,
}

/// Tells which files count.
struct Sorter<'a> {
    surroundings: &'a Surroundings<'a>,
    modules: &'a Modules,
    named: HashSet<&'a str>,
    /// Words of the build's descriptions: which tests run may be said in a file that they name.
    named_by_build: HashSet<String>,
    java_tops: BTreeSet<(String, String)>,
}

impl Sorter<'_> {
    fn wanted(&self, path: &Path) -> Option<Wanted> {
        let is_data = match role(&path.to_string_lossy()) {
            Role::Module | Role::Build | Role::Setting => return Some(Wanted::Setting),
            Role::Nothing => false,
            Role::Source | Role::Foreign => !is_compiled(self.surroundings, path) && self.may_be_opened(path),
            Role::Resource if self.is_named_by_build(path) => return Some(Wanted::Setting),
            Role::Resource => self.may_be_opened(path),
        };
        is_data.then_some(Wanted::Data)
    }

    fn is_named_by_build(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.contains('.') && !is_for_people(path) && self.named_by_build.contains(&*name)
    }

    fn may_be_opened(&self, path: &Path) -> bool {
        if let Some(wanted) = &self.surroundings.project.settings.data_files {
            return wanted.is_match(path);
        }
        let text = path.to_string_lossy();
        let module = self.modules.of(&text);
        let has_java = |top: &str| self.java_tops.contains(&(module.to_string(), top.to_string()));
        let is_named = path.file_name().is_some_and(|name| self.named.contains(&*name.to_string_lossy()));
        !is_hidden(path)
            && !is_for_people(path)
            && (is_named || is_in_data_directory(module, &text, has_java))
    }
}

/// The modules by their build descriptions, and those that have none of their own; and the words of those descriptions.
fn modules(
    surroundings: &Surroundings<'_>,
    listed: &[PathBuf],
) -> anyhow::Result<(Modules, HashSet<String>)> {
    let mut words: HashSet<String> = HashSet::new();
    let mut descriptions: Vec<String> = Vec::new();
    let mut texts: BTreeMap<String, BuildText> = BTreeMap::new();
    for path in listed {
        let name = path.to_string_lossy().into_owned();
        let role = role(&name);
        if matches!(role, Role::Module | Role::Build) {
            let bytes = fewer_files::read(&surroundings.project.root.join(path))
                .with_context(|| format!("cannot read {}", path.display()))?;
            words.extend(words_of(&bytes));
            texts.insert(name.clone(), BuildText::read(&name, &bytes));
            descriptions.extend((role == Role::Module).then_some(name));
        }
    }
    let known = surroundings.modules.iter().filter(|module| module.name != ROOT);
    descriptions.extend(known.map(|module| format!("{}/build.gradle", module.name)));
    Ok((Modules::new(descriptions.iter().map(String::as_str), &texts), words))
}

/// What may be the last part of a path.
fn words_of(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let is_part = |c: char| c.is_alphanumeric() || "._-+".contains(c);
    text.split(|c| !is_part(c)).filter(|word| word.contains('.')).map(str::to_string).collect()
}

/// Last parts of the strings that classes hold.
fn names_in(classes: &[Class]) -> HashSet<&str> {
    let strings = classes.iter().flat_map(|class| class.summary.texts_of(&class.summary.strings));
    strings.map(|string| string.rsplit('/').next().unwrap_or(string)).collect()
}

/// Per module the directories in it that have sources below them.
fn java_tops(surroundings: &Surroundings<'_>, modules: &Modules) -> BTreeSet<(String, String)> {
    let sources = surroundings.modules.iter().flat_map(|module| &module.layout.sources);
    let below = sources.filter_map(|root| root.strip_prefix(&surroundings.project.root).ok());
    below
        .map(|root| {
            // A source root itself may be the module's only directory.
            let path = root.join("x").to_string_lossy().into_owned();
            let module = modules.of(&path).to_string();
            let top = super::roles::top(&module, &path).to_string();
            (module, top)
        })
        .collect()
}

/// Below a source directory of some module.
fn is_compiled(surroundings: &Surroundings<'_>, path: &Path) -> bool {
    let path = surroundings.project.root.join(path);
    let mut modules = surroundings.modules.iter();
    // Without a build tool nobody says where sources are.
    modules.any(|module| {
        module.layout.sources.is_empty() || module.layout.sources.iter().any(|root| path.starts_with(root))
    })
}

/// Left by a build, or by fewer itself.
fn is_built(surroundings: &Surroundings<'_>, path: &Path) -> bool {
    let path = surroundings.project.root.join(path);
    let is_of = |module: &CompiledModule| {
        let layout = &module.layout;
        path.starts_with(&layout.build_directory)
            || layout.classes.iter().chain(&layout.test_classes).any(|root| path.starts_with(root))
    };
    path.starts_with(surroundings.project.store_directory()) || surroundings.modules.iter().any(is_of)
}

/// Whether the build put the same file on the class path.
fn is_copied(surroundings: &Surroundings<'_>, path: &Path, bytes: &[u8]) -> bool {
    let path = surroundings.project.root.join(path);
    surroundings.modules.iter().any(|module| {
        let roots = || module.layout.classes.iter().chain(&module.layout.test_classes);
        module.layout.resources.iter().filter_map(|from| path.strip_prefix(from).ok()).any(|below| {
            roots().any(|root| {
                let copy = fewer_files::read_at_most(&root.join(below), bytes.len() as u64);
                copy.is_ok_and(|copy| copy == bytes)
            })
        })
    })
}
