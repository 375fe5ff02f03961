//! Which types the files of a project declare, and what a name means in one of them: nested and inherited types,
//! imports, the same package, wildcards, qualified names. Pure lookups; keeping the results is done elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use crate::source_facts::SourceFacts;

/// A type of a file: the file's number and the index among its types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TypeKey {
    pub file: u32,
    pub index: u32,
}

/// A file with the names that its types have in the project.
#[derive(Clone, Debug)]
pub(crate) struct DeclaringFile {
    pub facts: Arc<SourceFacts>,
    /// `p.Outer.Inner`, as source writes it; empty for a type that repeats another of the file.
    pub canonical: Vec<String>,
    /// `p.Outer$Inner`.
    pub binary: Vec<String>,
    /// The simple name of each type.
    pub simple: Vec<String>,
    children: HashMap<(u32, String), u32>,
    explicit: HashMap<String, Vec<usize>>,
}

impl DeclaringFile {
    /// `stem` is the file's name without `.java`.
    pub fn new(facts: Arc<SourceFacts>, stem: &str) -> DeclaringFile {
        let mut file = DeclaringFile {
            canonical: Vec::new(),
            binary: Vec::new(),
            simple: Vec::new(),
            children: HashMap::new(),
            explicit: HashMap::new(),
            facts: Arc::clone(&facts),
        };
        for (index, declared) in facts.types.iter().enumerate() {
            let simple = if declared.name.is_empty() { stem } else { &declared.name };
            let (mut canonical, binary) = match declared.parent {
                Some(parent) => {
                    let parent = parent as usize;
                    (
                        format!("{}.{simple}", file.canonical[parent]),
                        format!("{}${simple}", file.binary[parent]),
                    )
                }
                None if facts.package.is_empty() => (simple.to_string(), simple.to_string()),
                None => {
                    let name = format!("{}.{simple}", facts.package);
                    (name.clone(), name)
                }
            };
            if file.binary.contains(&binary) {
                canonical.clear();
            } else if let Some(parent) = declared.parent {
                file.children.insert((parent, simple.to_string()), index as u32);
            }
            file.canonical.push(canonical);
            file.binary.push(binary);
            file.simple.push(simple.to_string());
        }
        for (index, import) in facts.imports.iter().enumerate().filter(|(_, import)| !import.is_wildcard) {
            let simple = import.name.rsplit('.').next().unwrap_or("");
            file.explicit.entry(simple.to_string()).or_default().push(index);
        }
        file
    }

    pub fn parent(&self, index: u32) -> Option<u32> {
        self.facts.types[index as usize].parent
    }

    /// The types that count, without those that repeat another.
    pub fn types(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.canonical.len() as u32).filter(|&index| !self.canonical[index as usize].is_empty())
    }

    /// The imported name, as written in full, that a simple name stands for.
    pub fn imported(&self, simple: &str) -> Option<&str> {
        let index = *self.explicit.get(simple)?.first()?;
        Some(&self.facts.imports[index].name)
    }
}

/// All types of a project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub files: Vec<Option<DeclaringFile>>,
    by_canonical: HashMap<String, Vec<TypeKey>>,
    /// Per file and type, the types of the project it inherits from.
    pub supers: Vec<Vec<Vec<TypeKey>>>,
}

/// Illegal programs may never settle; legal ones need about as many rounds as types are nested.
const MOST_ROUNDS: usize = 8;

impl Declarations {
    pub fn file(&self, file: u32) -> &DeclaringFile {
        self.files[file as usize].as_ref().expect("a type's file is present")
    }

    pub fn binary(&self, key: TypeKey) -> &str {
        &self.file(key.file).binary[key.index as usize]
    }

    pub fn insert(&mut self, number: u32, file: DeclaringFile) {
        for index in file.types() {
            let list = self.by_canonical.entry(file.canonical[index as usize].clone()).or_default();
            let key = TypeKey { file: number, index };
            // Sorted, so that the order of insertion leaves no trace.
            list.insert(list.partition_point(|&other| other < key), key);
        }
        let count = self.files.len().max(number as usize + 1);
        self.files.resize_with(count, || None);
        self.supers.resize_with(count, Vec::new);
        self.supers[number as usize] = vec![Vec::new(); file.binary.len()];
        self.files[number as usize] = Some(file);
    }

    pub fn remove(&mut self, number: u32) -> Option<DeclaringFile> {
        let file = self.files.get_mut(number as usize)?.take()?;
        for index in file.types() {
            let name = &file.canonical[index as usize];
            if let Some(list) = self.by_canonical.get_mut(name) {
                list.retain(|key| key.file != number);
                if list.is_empty() {
                    self.by_canonical.remove(name);
                }
            }
        }
        self.supers[number as usize].clear();
        Some(file)
    }

    pub fn named(&self, canonical: &str) -> &[TypeKey] {
        self.by_canonical.get(canonical).map_or(&[], Vec::as_slice)
    }

    /// Finds anew what every type inherits from. What a name means can itself depend on inherited types, so
    /// that it is done in rounds.
    pub fn resolve_supers(&mut self) {
        let empty: Vec<Vec<Vec<TypeKey>>> =
            self.supers.iter().map(|types| vec![Vec::new(); types.len()]).collect();
        self.supers = empty;
        for _ in 0..MOST_ROUNDS {
            let mut next: Vec<Vec<Vec<TypeKey>>> = Vec::with_capacity(self.supers.len());
            for (number, file) in self.files.iter().enumerate() {
                let Some(file) = file else {
                    next.push(Vec::new());
                    continue;
                };
                let supers_of = |index: u32| self.supers_of(number as u32, file, index);
                next.push((0..file.binary.len() as u32).map(supers_of).collect());
            }
            if next == self.supers {
                break;
            }
            self.supers = next;
        }
    }

    fn supers_of(&self, number: u32, file: &DeclaringFile, index: u32) -> Vec<TypeKey> {
        let declared = &file.facts.types[index as usize];
        let mut supers = Vec::new();
        for &name in &declared.supers {
            let resolved = self.resolve(number, declared.parent, file.facts.text(name));
            supers.extend(resolved.types.into_iter().filter(|key| *key != TypeKey { file: number, index }));
        }
        supers.sort_unstable();
        supers.dedup();
        supers
    }

    /// A type declared in `key` or inherited by it.
    fn member_type(&self, key: TypeKey, name: &str, found: &mut Vec<TypeKey>) {
        let mut seen = vec![key];
        let mut next = 0;
        while let Some(&key) = seen.get(next) {
            next += 1;
            let child = self.file(key.file).children.get(&(key.index, name.to_string()));
            if let Some(&index) = child {
                found.push(TypeKey { file: key.file, index });
                continue;
            }
            for &parent in &self.supers[key.file as usize][key.index as usize] {
                if !seen.contains(&parent) {
                    seen.push(parent);
                }
            }
        }
    }

    /// What a dotted name means inside a type (or outside all types) of a file.
    pub fn resolve(&self, file: u32, scope: Option<u32>, dotted: &str) -> Resolved {
        let mut segments = dotted.split('.');
        let first = segments.next().unwrap_or("");
        let mut current = self.simple(file, scope, first);
        if current.is_empty() {
            return self.qualified(dotted);
        }
        let mut passed = Vec::new();
        let mut consumed = first.len();
        for segment in segments {
            let mut next = Vec::new();
            for &key in &current {
                self.member_type(key, segment, &mut next);
            }
            if next.is_empty() {
                break;
            }
            next.sort_unstable();
            next.dedup();
            passed.extend(std::mem::replace(&mut current, next));
            consumed += 1 + segment.len();
        }
        Resolved { types: current, passed, consumed }
    }

    fn simple(&self, number: u32, scope: Option<u32>, name: &str) -> Vec<TypeKey> {
        let file = self.file(number);
        let mut found = Vec::new();
        let mut enclosing = scope;
        while let Some(index) = enclosing {
            let key = TypeKey { file: number, index };
            if file.simple[index as usize] == name {
                found.push(key);
                return found;
            }
            // What is inherited may be private or hidden: then the name means something further out.
            let is_own = file.children.contains_key(&(index, name.to_string()));
            self.member_type(key, name, &mut found);
            if is_own {
                return found;
            }
            enclosing = file.parent(index);
        }
        if let Some(imports) = file.explicit.get(name) {
            for &import in imports {
                found.extend(
                    self.qualified(&file.facts.imports[import].name).whole(&file.facts.imports[import].name),
                );
            }
            if imports.iter().any(|&import| !file.facts.imports[import].is_static) || !found.is_empty() {
                return found;
            }
        }
        let package = &file.facts.package;
        let same_package = match package.is_empty() {
            true => self.named(name),
            false => self.named(&format!("{package}.{name}")),
        };
        found.extend(same_package);
        if !same_package.is_empty() {
            return found;
        }
        for import in file.facts.imports.iter().filter(|import| import.is_wildcard) {
            found.extend(self.named(&format!("{}.{name}", import.name)));
            for key in self.qualified(&import.name).whole(&import.name) {
                self.member_type(key, name, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A name that starts with a package: the shortest prefix that is a type, then its nested types.
    pub fn qualified(&self, dotted: &str) -> Resolved {
        let ends = dotted.match_indices('.').map(|(end, _)| end).chain([dotted.len()]);
        for end in ends {
            let found = self.named(&dotted[..end]);
            if found.is_empty() {
                continue;
            }
            let mut resolved = Resolved { types: found.to_vec(), passed: Vec::new(), consumed: end };
            for segment in dotted[end..].split('.').skip(1) {
                let mut next = Vec::new();
                for &key in &resolved.types {
                    self.member_type(key, segment, &mut next);
                }
                if next.is_empty() {
                    break;
                }
                next.sort_unstable();
                next.dedup();
                resolved.passed.extend(std::mem::replace(&mut resolved.types, next));
                resolved.consumed += 1 + segment.len();
            }
            return resolved;
        }
        Resolved::default()
    }
}

/// What a dotted name was found to mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolved {
    /// The innermost types named.
    pub types: Vec<TypeKey>,
    /// The types on the way there.
    pub passed: Vec<TypeKey>,
    /// How many bytes of the name are the type's; the rest are fields and methods.
    pub consumed: usize,
}

impl Resolved {
    /// The types, if the whole of the name is one.
    pub fn whole(self, dotted: &str) -> Vec<TypeKey> {
        if self.consumed == dotted.len() { self.types } else { Vec::new() }
    }
}
