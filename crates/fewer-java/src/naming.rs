//! What strings can name at run time: classes, packages and resources of the program. Hidden references, that
//! is; which classes hold which strings is known to the summaries.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;

use rustc_hash::FxHashMap as HashMap;

use crate::program::{Input, InputKind, Program};
use crate::summary::{ClassSummary, LoadedName, MemberTraits, Unknown, package_of};

/// Shorter names are in others by chance.
const SHORTEST_CLUE: usize = 3;

/// Indexes over the names of a program.
pub(crate) struct Naming<'p> {
    program: &'p Program,
    by_name: HashMap<&'p str, Vec<u32>>,
    /// Nested classes with dots, as source writes them: `p.C.N`.
    by_dotted: HashMap<String, Vec<u32>>,
    packages: BTreeMap<&'p str, Vec<u32>>,
    /// Every class by its name, and nested ones with dots as well, sorted.
    sorted: Vec<(Cow<'p, str>, u32)>,
    /// First segments of package names: most strings name nothing and are told by them.
    roots: HashSet<&'p str>,
}

/// What a string names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Named<'a> {
    Classes(&'a [u32]),
    Package(&'a str),
}

impl<'p> Naming<'p> {
    pub fn new(program: &'p Program) -> Naming<'p> {
        let mut naming = Naming {
            program,
            by_name: HashMap::with_capacity_and_hasher(program.classes.len(), Default::default()),
            by_dotted: HashMap::default(),
            packages: BTreeMap::new(),
            sorted: Vec::with_capacity(program.classes.len()),
            roots: HashSet::new(),
        };
        for (index, class) in program.classes.iter().enumerate() {
            let name = class.summary.name.as_str();
            let index = index as u32;
            naming.by_name.entry(name).or_default().push(index);
            naming.sorted.push((name.into(), index));
            if name.contains('$') {
                let dotted = name.replace('$', ".");
                naming.sorted.push((dotted.clone().into(), index));
                naming.by_dotted.entry(dotted).or_default().push(index);
            }
            naming.packages.entry(package_of(name)).or_default().push(index);
            naming.roots.insert(name.split('.').next().unwrap_or(name));
        }
        naming.sorted.sort_unstable();
        naming
    }

    pub fn classes(&self, binary: &str) -> &[u32] {
        self.by_name.get(binary).map_or(&[], Vec::as_slice)
    }

    /// A class by any of its spellings: `p.C$N`, `p.C.N`, `p/C`, `p.C#method`, `p/C.class`, `p.C.member`.
    pub fn named<'a>(&'a self, string: &'a str) -> Option<Named<'a>> {
        let string = string.trim_start_matches('[').split('#').next().unwrap_or("");
        let dotted: Cow<'a, str> = match string.contains('/') {
            true => string.trim_matches('/').replace('/', ".").into(),
            false => string.into(),
        };
        if !self.roots.contains(dotted.split(['.', '$']).next().unwrap_or(""))
            && !self.by_name.contains_key(&*dotted)
        {
            // `Lp/C;`, as descriptors are written.
            let inner = string.strip_prefix('L').filter(|inner| inner.contains('/'))?;
            return self.classes_named(&inner.replace('/', ".")).map(Named::Classes);
        }
        if let Some(classes) = self.classes_named(&dotted) {
            return Some(Named::Classes(classes));
        }
        let package = dotted.trim_end_matches(".*").trim_end_matches('.');
        // A single word names a package only if it holds classes itself.
        if (package.contains('.') || self.is_package(package))
            && let Some(package) = self.package(package)
        {
            return Some(Named::Package(package));
        }
        let mut prefix = &*dotted;
        while let Some((shorter, _)) = prefix.rsplit_once('.') {
            if self.packages.contains_key(shorter) {
                return None;
            }
            if let Some(classes) = self.classes_named(shorter) {
                return Some(Named::Classes(classes));
            }
            prefix = shorter;
        }
        None
    }

    fn classes_named(&self, dotted: &str) -> Option<&[u32]> {
        self.by_name.get(dotted).or_else(|| self.by_dotted.get(dotted)).map(Vec::as_slice)
    }

    fn is_package(&self, name: &str) -> bool {
        !name.is_empty() && self.packages.contains_key(name)
    }

    /// Classes of packages of the project that a class uses and no file declares: a generator makes them. Where a
    /// library may have them too, only those that are called after a class of their package.
    pub fn generated<'s>(&self, summary: &'s ClassSummary) -> Vec<&'s str> {
        let doubtful = summary.texts_of(&summary.doubtful).filter(|name| self.is_called_after_another(name));
        let all = summary.texts_of(&summary.undeclared).chain(doubtful);
        all.filter(|name| self.is_package(package_of(name))).collect()
    }

    /// `p.RowInfo`, where there is a `p.Row`.
    fn is_called_after_another(&self, name: &str) -> bool {
        let package = package_of(name);
        let simple = name.strip_prefix(package).unwrap_or(name).trim_start_matches('.');
        let ends = || simple.char_indices().map(|(at, _)| at).skip(1).chain([simple.len()]);
        let starts = simple.char_indices().filter(|(_, c)| c.is_uppercase()).map(|(at, _)| at);
        let mut parts = starts.flat_map(|start| {
            ends().filter(move |end| *end >= start + SHORTEST_CLUE).map(move |end| &simple[start..end])
        });
        parts.any(|part| self.by_name.contains_key(format!("{package}.{part}").as_str()))
    }

    /// A package that holds classes, itself or below it; the name as it is stored or that of the first below.
    fn package(&self, name: &str) -> Option<&'p str> {
        let (&found, _) = self.packages.range::<str, _>((Bound::Included(name), Bound::Unbounded)).next()?;
        match found.strip_prefix(name) {
            Some("") => Some(found),
            Some(rest) if rest.starts_with('.') => found.get(..name.len()),
            Some(_) | None => None,
        }
    }

    /// Classes of a package and of those below it.
    pub fn classes_in(&self, package: &str) -> Vec<u32> {
        self.classes_with_prefix(&format!("{package}."))
    }

    /// Classes whose name begins so, with dots or slashes.
    pub fn classes_with_prefix(&self, prefix: &str) -> Vec<u32> {
        let prefix = prefix.trim_start_matches('[').replace('/', ".");
        let prefix = prefix.trim_start_matches('.');
        let start = self.sorted.partition_point(|(name, _)| &**name < prefix);
        let begin = self.sorted[start..].iter().take_while(|(name, _)| name.starts_with(prefix));
        let mut classes: Vec<u32> = begin.map(|&(_, index)| index).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Whether the name of something loaded is a string constant, which then names it by itself.
    pub fn is_constant(&self, unknown: &Unknown) -> bool {
        let LoadedName::Field { owners, field } = &unknown.name else { return false };
        let key = format!("#{field}");
        let mut seen: Vec<&str> = owners.iter().map(String::as_str).collect();
        let mut next = 0;
        while let Some(&owner) = seen.get(next) {
            next += 1;
            for &index in self.classes(owner) {
                let class: &ClassSummary = &self.program.classes[index as usize].summary;
                let member = class.members.iter().find(|member| class.text(member.key) == key);
                if let Some(member) = member {
                    return member.traits.has(MemberTraits::STRING_CONSTANT);
                }
                let parents: Vec<&str> =
                    class.texts_of(&class.supers).filter(|parent| !seen.contains(parent)).collect();
                // The summaries outlive this walk.
                seen.extend(parents);
            }
        }
        false
    }
}

/// Which classes name which resource.
pub(crate) struct ResourceNames<'p> {
    /// By the last part of a string after a slash, and after a dot.
    by_last: HashMap<&'p str, Vec<(u32, &'p str)>>,
}

/// Who uses a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ResourceUsers {
    Classes(Vec<u32>),
    /// Nobody names it: any test of the module may find it.
    Module,
}

impl<'p> ResourceNames<'p> {
    pub fn new(program: &'p Program) -> ResourceNames<'p> {
        let mut by_last: HashMap<&str, Vec<(u32, &str)>> = HashMap::default();
        if program.inputs.iter().any(|input| input.kind == InputKind::Resource) {
            for (index, class) in program.classes.iter().enumerate() {
                for string in class.summary.texts_of(&class.summary.strings) {
                    let path = string.trim_end_matches('/');
                    let last = path.rsplit('/').next().unwrap_or(path);
                    by_last.entry(last).or_default().push((index as u32, path));
                    if let Some((_, after_dot)) = last.rsplit_once('.') {
                        by_last.entry(after_dot).or_default().push((index as u32, path));
                    }
                }
            }
        }
        ResourceNames { by_last }
    }

    pub fn users(&self, input: &Input) -> ResourceUsers {
        let (directory, file) = input.name.rsplit_once('/').unwrap_or(("", &input.name));
        let stem = file.split('.').next().unwrap_or(file);
        // Bundles are named without their language: `p.messages` for `p/messages_de.properties`.
        let base = stem.split('_').next().unwrap_or(stem);
        let named = |name: &str| self.by_last.get(name).into_iter().flatten();
        let mut users: Vec<u32> = named(file).map(|&(class, _)| class).collect();
        let bundles = [stem, base].into_iter().filter(|_| file.ends_with(".properties"));
        for bundle in bundles {
            let is_named_so = |path: &str| {
                let path = path.replace('.', "/");
                path.contains('/') && format!("{directory}/{bundle}").ends_with(&path)
            };
            users.extend(named(bundle).filter(|(_, path)| is_named_so(path)).map(|&(class, _)| class));
        }
        if users.is_empty() {
            return ResourceUsers::Module;
        }
        // Its name without the ending, which by itself may be any word.
        users.extend(named(stem).chain(named(base)).map(|&(class, _)| class));
        let mut ancestor = directory;
        while !ancestor.is_empty() {
            let last = ancestor.rsplit('/').next().unwrap_or(ancestor);
            let naming = self.by_last.get(last).into_iter().flatten().filter(|(_, path)| {
                let path = path.trim_start_matches("./").trim_start_matches('/');
                ancestor.ends_with(path) || path.ends_with(ancestor)
            });
            users.extend(naming.map(|&(class, _)| class));
            ancestor = ancestor.rsplit_once('/').map_or("", |(above, _)| above);
        }
        users.sort_unstable();
        users.dedup();
        ResourceUsers::Classes(users)
    }
}
