//! The files of one state of a Java project and the graph they give. Files come and go; what a change costs is about
//! what it touches, and the graph is made anew when somebody asks. Where contents come from is told elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_git::{FileMode, ObjectHash, TreeChange, TreeContent, TreeEntry};
use fewer_java::{
    Analysed, Input, InputKind, Options, Program, SourceChange, SourceFacts, SourceProject, SourceReader,
};

use fewer_java::source_facts::TypeFacts;

use super::facts::FactsReader;
use super::modules::{BuildText, Modules};
use super::roles::{Role, is_in_data_directory, role, top};

const BLOB: Domain = Domain::new("java.blob");
const FILE: Domain = Domain::new("java.file");
const LINK: Domain = Domain::new("java.link");

/// A file that is new or changed, or gone.
pub struct FileChange {
    /// Below the top of the repository.
    pub path: PathBuf,
    pub content: Option<FileContent>,
}

pub enum FileContent {
    InGit(TreeContent),
    OnDisk(Vec<u8>),
    /// What the link says, not what is behind it.
    LinkOnDisk(Vec<u8>),
}

/// A project at one commit, or as it lies on disk.
pub struct JavaState {
    options: Options,
    /// Where the project begins, as git writes it: empty, or ending with `/`.
    below: String,
    project: SourceProject,
    sources: BTreeMap<String, Source>,
    others: BTreeMap<String, Other>,
    builds: BTreeMap<String, BuildText>,
    modules: Modules,
}

struct Source {
    facts: Arc<SourceFacts>,
    module: String,
}

/// A file that is no class.
struct Other {
    role: Role,
    digest: Digest,
    kind: InputKind,
}

impl FileChange {
    pub fn of_entry(entry: TreeEntry) -> FileChange {
        FileChange { path: entry.path, content: Some(FileContent::InGit(entry.content)) }
    }

    pub fn of_change(change: TreeChange) -> FileChange {
        FileChange { path: change.path, content: change.new.map(FileContent::InGit) }
    }
}

impl JavaState {
    pub fn new(options: Options, below: String) -> JavaState {
        let builds = BTreeMap::new();
        JavaState {
            options,
            below,
            project: SourceProject::new(),
            sources: BTreeMap::new(),
            others: BTreeMap::new(),
            modules: Modules::new(std::iter::empty(), &builds),
            builds,
        }
    }

    /// Takes over some changed files; whether any of them counts.
    pub fn apply(&mut self, changes: Vec<FileChange>, reader: &mut FactsReader<'_>) -> anyhow::Result<bool> {
        let mut updates: BTreeMap<String, Option<Arc<SourceFacts>>> = BTreeMap::new();
        let mut blobs: Vec<(String, ObjectHash)> = Vec::new();
        let mut own = SourceReader::new();
        let (mut is_changed, mut is_build_changed) = (false, false);
        for FileChange { path, content } in changes {
            let Some(path) = self.own_path(&path) else { continue };
            let role = role_of(&path, content.as_ref(), self.others.get(&path));
            is_changed |= role != Role::Nothing;
            is_build_changed |= is_build(role) || self.builds.contains_key(&path);
            match (role, content) {
                (Role::Nothing, _) => {}
                (Role::Source, Some(FileContent::InGit(content))) => {
                    self.others.remove(&path);
                    blobs.push((path, content.hash));
                }
                (Role::Source, Some(FileContent::OnDisk(bytes) | FileContent::LinkOnDisk(bytes))) => {
                    self.others.remove(&path);
                    updates.insert(path, Some(Arc::new(own.read(&bytes))));
                }
                (Role::Source, None) => drop(updates.insert(path, None)),
                (role, content) => {
                    if self.sources.contains_key(&path) {
                        updates.insert(path.clone(), None);
                    }
                    self.put_other(path, role, content, reader)?;
                }
            }
        }
        let hashes: Vec<ObjectHash> = blobs.iter().map(|(_, hash)| *hash).collect();
        let facts = reader.facts(&hashes)?;
        updates.extend(blobs.into_iter().map(|(path, hash)| (path, facts.get(&hash).cloned())));
        if is_build_changed {
            self.find_modules(&mut updates);
        }
        self.update(updates);
        Ok(is_changed)
    }

    /// The graph of the state, and what could not be seen.
    pub fn analyse(&self) -> Analysed {
        let classes = self.project.classes().cloned().collect();
        let mut analysed = Program { classes, inputs: self.inputs() }.analyse(self.options);
        let mut notes = self.project.notes();
        notes.extend(self.foreign_note());
        notes.append(&mut analysed.notes);
        Analysed { notes, ..analysed }
    }

    /// The types that a source file declares, by binary name; nothing if it is none.
    pub fn type_names(&self, path: &Path) -> Vec<String> {
        let Some(own) = self.own_path(path) else { return Vec::new() };
        let Some(source) = self.sources.get(&own) else { return Vec::new() };
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let types = &source.facts.types;
        let simple = |declared: &TypeFacts| {
            if declared.name.is_empty() { stem.clone() } else { declared.name.clone() }
        };
        let name = |declared: &TypeFacts| {
            let mut name = simple(declared);
            let mut above = declared.parent;
            while let Some(parent) = above.and_then(|parent| types.get(parent as usize)) {
                name = format!("{}${name}", simple(parent));
                above = parent.parent;
            }
            match source.facts.package.as_str() {
                "" => name,
                package => format!("{package}.{name}"),
            }
        };
        types.iter().map(name).collect()
    }

    /// What a file that is no class is called in the graph.
    pub fn input_name(&self, path: &Path) -> Option<String> {
        self.own_path(path).filter(|_| self.is_input(path))
    }

    /// How many types a source file declares; `None` if it is none.
    pub fn types_in(&self, path: &Path) -> Option<usize> {
        self.sources.get(&self.own_path(path)?).map(|source| source.facts.types.len())
    }

    /// Whether the file counts, without being a class.
    pub fn is_input(&self, path: &Path) -> bool {
        let Some(path) = self.own_path(path) else { return false };
        let tops = self.tops();
        self.others.get(&path).is_some_and(|other| self.counts(&path, other, &tops))
    }

    fn own_path(&self, path: &Path) -> Option<String> {
        Some(path.to_string_lossy().strip_prefix(self.below.as_str())?.to_string())
    }

    fn put_other(
        &mut self,
        path: String,
        role: Role,
        content: Option<FileContent>,
        reader: &mut FactsReader<'_>,
    ) -> anyhow::Result<()> {
        let Some(content) = content else {
            self.others.remove(&path);
            self.builds.remove(&path);
            return Ok(());
        };
        let is_read = is_build(role) || path.contains("META-INF/services/");
        let digest = match &content {
            FileContent::InGit(TreeContent { mode, hash }) => {
                DigestBuilder::new(BLOB).text(&format!("{mode:?}")).bytes(hash.as_bytes()).finish()
            }
            FileContent::OnDisk(bytes) => Digest::of(FILE, bytes),
            FileContent::LinkOnDisk(bytes) => Digest::of(LINK, bytes),
        };
        let bytes = match content {
            FileContent::OnDisk(bytes) | FileContent::LinkOnDisk(bytes) => bytes,
            FileContent::InGit(content) if is_read && content.mode != FileMode::Submodule => {
                reader.content(content.hash)?
            }
            FileContent::InGit(_) => Vec::new(),
        };
        let kind = match role {
            Role::Resource => InputKind::of_file(&path, &bytes),
            Role::Source | Role::Module | Role::Build | Role::Setting | Role::Foreign | Role::Nothing => {
                InputKind::Setting
            }
        };
        match role {
            Role::Module | Role::Build => {
                self.builds.insert(path.clone(), BuildText::read(&path, &bytes));
            }
            Role::Source | Role::Setting | Role::Foreign | Role::Resource | Role::Nothing => {
                self.builds.remove(&path);
            }
        }
        self.others.insert(path, Other { role, digest, kind });
        Ok(())
    }

    /// Finds the modules anew, and adds the files that belong to another one now.
    fn find_modules(&mut self, updates: &mut BTreeMap<String, Option<Arc<SourceFacts>>>) {
        let descriptions = self.others.iter().filter(|(_, other)| other.role == Role::Module);
        self.modules = Modules::new(descriptions.map(|(path, _)| path.as_str()), &self.builds);
        for (path, source) in &self.sources {
            if source.module != self.modules.of(path) {
                updates.entry(path.clone()).or_insert_with(|| Some(Arc::clone(&source.facts)));
            }
        }
    }

    fn update(&mut self, updates: BTreeMap<String, Option<Arc<SourceFacts>>>) {
        let mut changes = Vec::with_capacity(updates.len());
        for (path, facts) in updates {
            let module = self.modules.of(&path).to_string();
            match &facts {
                Some(facts) => {
                    let source = Source { facts: Arc::clone(facts), module: module.clone() };
                    self.sources.insert(path.clone(), source);
                }
                None => drop(self.sources.remove(&path)),
            }
            changes.push(SourceChange { path, module, facts });
        }
        self.project.update(changes);
    }

    /// Once for every module whose tests it counts for.
    fn inputs(&self) -> Vec<Input> {
        let tops = self.tops();
        let mut inputs = Vec::new();
        for (path, other) in self.others.iter().filter(|(path, other)| self.counts(path, other, &tops)) {
            let input = |module: Option<&str>| Input {
                name: path.clone(),
                digest: other.digest,
                kind: other.kind.clone(),
                module: module.map(str::to_string),
            };
            match self.modules.users(self.modules.of(path)) {
                Some(users) => inputs.extend(users.map(|user| input(Some(user)))),
                None => inputs.push(input(None)),
            }
        }
        inputs
    }

    /// Per module the directories in it that have Java below them.
    fn tops(&self) -> BTreeSet<(&str, &str)> {
        self.sources
            .iter()
            .map(|(path, source)| (source.module.as_str(), top(&source.module, path)))
            .collect()
    }

    fn counts(&self, path: &str, other: &Other, tops: &BTreeSet<(&str, &str)>) -> bool {
        match other.role {
            Role::Module | Role::Build | Role::Setting | Role::Foreign => true,
            Role::Resource => {
                let module = self.modules.of(path);
                is_in_data_directory(module, path, |top| tops.contains(&(module, top)))
            }
            Role::Source | Role::Nothing => false,
        }
    }

    fn foreign_note(&self) -> Option<String> {
        let foreign = self.others.iter().filter(|(_, other)| other.role == Role::Foreign);
        let paths: Vec<&str> = foreign.map(|(path, _)| path.as_str()).collect();
        let first = paths.first()?;
        Some(format!(
            "{} files are code that is not read without a build, such as {first}: each counts for all tests of its \
             module, and tests in them are not found",
            paths.len()
        ))
    }
}

/// A link, or another repository, counts for all tests of its module: what is behind it is not followed.
fn role_of(path: &str, content: Option<&FileContent>, before: Option<&Other>) -> Role {
    let role = role(path);
    let is_followed = match content {
        Some(FileContent::InGit(content)) => match content.mode {
            FileMode::File | FileMode::Executable => true,
            FileMode::Link | FileMode::Submodule => false,
        },
        Some(FileContent::OnDisk(_)) => true,
        Some(FileContent::LinkOnDisk(_)) => false,
        None => return before.map_or(role, |before| before.role),
    };
    match role {
        Role::Source | Role::Foreign | Role::Resource if !is_followed => Role::Setting,
        Role::Source
        | Role::Foreign
        | Role::Resource
        | Role::Module
        | Role::Build
        | Role::Setting
        | Role::Nothing => role,
    }
}

fn is_build(role: Role) -> bool {
    match role {
        Role::Module | Role::Build => true,
        Role::Source | Role::Setting | Role::Foreign | Role::Resource | Role::Nothing => false,
    }
}
