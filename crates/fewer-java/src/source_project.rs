//! A project as its source files: keeps what every name means up to date while files come, change and go.
//! A change costs about as much as the files it touches and those that use a name whose meaning it changes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::declarations::{Declarations, DeclaringFile, TypeKey};
use crate::program::Class;
use crate::source_facts::{Mentions, SourceFacts};
use crate::source_summary::summarise;

/// A file of the project that is new, changed (`Some`) or gone (`None`).
pub struct SourceChange {
    /// Path with `/`, ending in `.java`.
    pub path: String,
    /// The Maven or Gradle module it belongs to, as test ids name it.
    pub module: String,
    pub facts: Option<Arc<SourceFacts>>,
}

struct File {
    number: u32,
    module: Arc<str>,
    classes: Vec<Class>,
    /// Every simple name that occurs in it.
    names: Vec<u32>,
}

/// All source files of a project, with every class summarised.
#[derive(Default)]
pub struct SourceProject {
    files: BTreeMap<String, File>,
    paths: Vec<String>,
    free: Vec<u32>,
    declarations: Declarations,
    names: HashMap<String, u32>,
    /// Per name, the files that use it.
    mentioned: Vec<HashSet<u32>>,
    /// What each type inherits from, by binary names.
    supers: HashMap<String, Vec<String>>,
}

/// What an update did, for timings and tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Updated {
    /// Files whose names were looked up again.
    pub resolved: usize,
}

impl SourceProject {
    pub fn new() -> SourceProject {
        SourceProject::default()
    }

    /// Takes over some changed files.
    pub fn update(&mut self, changes: Vec<SourceChange>) -> Updated {
        let mut touched: BTreeSet<String> = BTreeSet::new();
        let mut dirty: BTreeSet<String> = BTreeSet::new();
        let mut reshaped = false;
        for change in changes {
            let (before, supers) = self.remove(&change.path).unzip();
            touched.remove(&change.path);
            let after = change.facts.map(|facts| DeclaringFile::new(facts, stem(&change.path)));
            let has_shape_of_before = shape(before.as_ref()) == shape(after.as_ref());
            reshaped |= !has_shape_of_before;
            dirty.extend(redeclared(before.as_ref(), after.as_ref()));
            if let Some(after) = after {
                let number = self.insert(&change.path, change.module.into(), after);
                if let Some(supers) = supers.filter(|_| has_shape_of_before) {
                    self.declarations.supers[number as usize] = supers;
                }
                touched.insert(change.path);
            }
        }
        if reshaped && self.supers_changed() {
            dirty.extend(self.nested_names());
        }
        let mut affected: BTreeSet<u32> = touched.iter().map(|path| self.files[path].number).collect();
        for name in &dirty {
            let users = self.names.get(name).map(|&id| &self.mentioned[id as usize]);
            affected.extend(users.into_iter().flatten());
        }
        self.resolve(&affected);
        Updated { resolved: affected.len() }
    }

    /// Every class, sorted by path and place in the file.
    pub fn classes(&self) -> impl Iterator<Item = &Class> {
        self.files.values().flat_map(|file| &file.classes)
    }

    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Files that could not be parsed, with the cause.
    pub fn notes(&self) -> Vec<String> {
        let broken = self.files.iter().filter_map(|(path, file)| {
            let why = self.declarations.file(file.number).facts.broken.as_ref()?;
            Some(format!("{path} {why}: it counts as a whole, and may refer to everything that it mentions"))
        });
        broken.collect()
    }

    /// The paths of the files that declare a class of this binary name.
    pub fn paths_of<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'a str> {
        self.files
            .iter()
            .filter(move |(_, file)| file.classes.iter().any(|known| known.summary.name == class))
            .map(|(path, _)| path.as_str())
    }

    fn remove(&mut self, path: &str) -> Option<(DeclaringFile, Vec<Vec<TypeKey>>)> {
        let file = self.files.remove(path)?;
        let supers = std::mem::take(&mut self.declarations.supers[file.number as usize]);
        for name in file.names {
            self.mentioned[name as usize].remove(&file.number);
        }
        self.free.push(file.number);
        Some((self.declarations.remove(file.number)?, supers))
    }

    /// A file that is removed and inserted at once keeps its number.
    fn insert(&mut self, path: &str, module: Arc<str>, declaring: DeclaringFile) -> u32 {
        let number = self.free.pop().unwrap_or(self.paths.len() as u32);
        if number as usize == self.paths.len() {
            self.paths.push(String::new());
        }
        self.paths[number as usize] = path.to_string();
        let mut names = Vec::new();
        for name in simple_names(&declaring.facts) {
            let next = self.mentioned.len() as u32;
            let id = match self.names.get(name) {
                Some(&id) => id,
                None => {
                    self.names.insert(name.to_string(), next);
                    self.mentioned.push(HashSet::new());
                    next
                }
            };
            if self.mentioned[id as usize].insert(number) {
                names.push(id);
            }
        }
        self.declarations.insert(number, declaring);
        self.files.insert(path.to_string(), File { number, module, classes: Vec::new(), names });
        number
    }

    /// Finds all super types anew; whether a type that was there before has others now.
    fn supers_changed(&mut self) -> bool {
        self.declarations.resolve_supers();
        let before = std::mem::take(&mut self.supers);
        self.supers = self.known_supers();
        before.iter().any(|(name, supers)| self.supers.get(name).is_some_and(|now| now != supers))
    }

    fn known_supers(&self) -> HashMap<String, Vec<String>> {
        let mut known: HashMap<String, Vec<String>> = HashMap::new();
        for file in self.files.values() {
            let declaring = self.declarations.file(file.number);
            for index in declaring.types() {
                let supers = &self.declarations.supers[file.number as usize][index as usize];
                let list = known.entry(declaring.binary[index as usize].clone()).or_default();
                list.extend(supers.iter().map(|&key| self.declarations.binary(key).to_string()));
                list.sort();
            }
        }
        known
    }

    fn nested_names(&self) -> Vec<String> {
        let files = self.files.values().map(|file| self.declarations.file(file.number));
        let nested = files.flat_map(|file| {
            file.types()
                .filter(|&index| file.parent(index).is_some())
                .map(|index| &file.simple[index as usize])
        });
        nested.cloned().collect()
    }

    fn resolve(&mut self, affected: &BTreeSet<u32>) {
        for &number in affected {
            let path = &self.paths[number as usize];
            let Some(file) = self.files.get_mut(path) else { continue };
            let summaries = summarise(&self.declarations, number);
            let module = &file.module;
            file.classes = summaries
                .into_iter()
                .map(|summary| Class { module: Arc::clone(module), summary: Arc::new(summary) })
                .collect();
        }
    }
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".java").unwrap_or(name)
}

/// What super types can depend on.
type Shape<'f> = (&'f str, &'f [crate::source_facts::Import], Vec<(&'f str, Vec<&'f str>)>);

fn shape(file: Option<&DeclaringFile>) -> Option<Shape<'_>> {
    file.map(|file| {
        let types = file.facts.types.iter().zip(&file.binary).map(|(declared, binary)| {
            let supers = declared.supers.iter().map(|&id| file.facts.text(id));
            (binary.as_str(), supers.collect())
        });
        (file.facts.package.as_str(), file.facts.imports.as_slice(), types.collect())
    })
}

/// Simple names of the types that only one of the two versions declares.
fn redeclared(before: Option<&DeclaringFile>, after: Option<&DeclaringFile>) -> Vec<String> {
    let declared = |file: Option<&DeclaringFile>| -> BTreeMap<String, String> {
        file.map(|file| {
            let entry =
                |index: u32| (file.canonical[index as usize].clone(), file.simple[index as usize].clone());
            file.types().map(entry).collect()
        })
        .unwrap_or_default()
    };
    let (before, after) = (declared(before), declared(after));
    let gone = before.iter().filter(|(name, _)| !after.contains_key(*name));
    let new = after.iter().filter(|(name, _)| !before.contains_key(*name));
    gone.chain(new).map(|(_, simple)| simple.clone()).collect()
}

/// Every segment of every name that may be a type's.
fn simple_names(facts: &SourceFacts) -> HashSet<&str> {
    let mut names: HashSet<&str> = HashSet::new();
    let mut add = |mentions: &Mentions| {
        let lists = [&mentions.types, &mentions.expressions, &mentions.created];
        let owners = mentions.on.iter().map(|(owner, _)| owner);
        for &id in lists.into_iter().flatten().chain(owners) {
            names.extend(facts.text(id).split('.'));
        }
    };
    for declared in &facts.types {
        add(&declared.header_mentions);
        for member in &declared.members {
            add(&member.mentions);
        }
    }
    for declared in &facts.types {
        let provided = declared.provides.iter().flat_map(|&(service, provider)| [service, provider]);
        for id in declared.supers.iter().copied().chain(provided) {
            names.extend(facts.text(id).split('.'));
        }
    }
    for import in &facts.imports {
        names.extend(import.name.split('.'));
    }
    names
}
