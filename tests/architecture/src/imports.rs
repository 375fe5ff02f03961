//! Which top-level module of a crate names which other, and the circles that this makes.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ItemUse, Path, UseTree};

use crate::Place;
use crate::source::Source;

/// By module the modules that it names, each with a place.
#[derive(Default)]
pub struct Imports(BTreeMap<String, BTreeMap<String, Place>>);

impl Imports {
    pub fn of(sources: &[Source]) -> Imports {
        let modules: BTreeSet<&str> =
            sources.iter().filter_map(|source| Some(source.module.first()?.as_str())).collect();
        let offered = offered(sources, &modules);
        let mut imports = Imports::default();
        for source in sources {
            let Some(own) = source.module.first() else { continue };
            let mut seen = Seen { source, paths: Vec::new() };
            seen.visit_file(&source.file);
            for (path, line) in seen.paths.iter().filter(|(_, line)| !source.is_test(*line)) {
                let Some(first) = path.first() else { continue };
                let named =
                    modules.get(first.as_str()).copied().or_else(|| offered.get(first).map(String::as_str));
                if let Some(named) = named.filter(|named| named != own) {
                    let place = Place { file: source.path.clone(), line: *line };
                    imports.0.entry(own.clone()).or_default().entry(named.to_string()).or_insert(place);
                }
            }
        }
        imports
    }

    /// The modules of the largest circle, sorted.
    pub fn largest_circle(&self) -> Vec<&str> {
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|module| (module.as_str(), self.reached_from(module))).collect();
        let circle = |module: &&str| -> Vec<&str> {
            let back = |other: &&&str| reach.get(**other).is_some_and(|reached| reached.contains(module));
            reach[module].iter().filter(back).copied().collect()
        };
        reach.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
    }

    fn reached_from(&self, module: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![module];
        while let Some(module) = open.pop() {
            for named in self.0.get(module).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(named.as_str()) {
                    open.push(named);
                }
            }
        }
        reached
    }

    /// Imports between modules that are both among these.
    pub fn within<'i>(&'i self, modules: &'i [&str]) -> impl Iterator<Item = String> + 'i {
        let among = |name: &str| modules.contains(&name);
        let of = self.0.iter().filter(move |(module, _)| among(module));
        of.flat_map(move |(module, named)| {
            let named = named.iter().filter(move |(name, _)| among(name));
            named.map(move |(name, place)| format!("{place}: {module} names {name}"))
        })
    }
}

/// The names that a crate's root takes from its modules, with the module of each.
fn offered(sources: &[Source], modules: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut offered = BTreeMap::new();
    for root in sources.iter().filter(|source| source.module.is_empty()) {
        let mut seen = Seen { source: root, paths: Vec::new() };
        seen.visit_file(&root.file);
        for (path, _) in seen.paths {
            if let [module, .., name] = &path[..]
                && modules.contains(module.as_str())
            {
                offered.insert(name.clone(), module.clone());
            }
        }
    }
    offered
}

/// Every path within the crate, from its root on, with its line.
struct Seen<'s> {
    source: &'s Source,
    paths: Vec<(Vec<String>, usize)>,
}

impl Seen<'_> {
    fn take(&mut self, path: &[String], line: usize) {
        let mut base = self.source.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => (base, rest) = (Vec::new(), &path[1..]),
            Some("self") => rest = &path[1..],
            Some("super") => {
                while let [first, others @ ..] = rest
                    && first == "super"
                {
                    base.pop();
                    rest = others;
                }
            }
            // In the root, modules are named without more.
            Some(_) if base.is_empty() => {}
            Some(_) | None => return,
        }
        base.extend(rest.iter().cloned());
        self.paths.push((base, line));
    }

    fn take_tree(&mut self, before: &[String], tree: &UseTree, line: usize) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.take_tree(&with(&path.ident), &path.tree, line),
            UseTree::Name(name) => self.take(&with(&name.ident), line),
            UseTree::Rename(name) => self.take(&with(&name.ident), line),
            UseTree::Glob(_) => self.take(before, line),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.take_tree(before, tree, line)),
        }
    }
}

impl<'a> Visit<'a> for Seen<'_> {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.take_tree(&[], &item.tree, item.span().start().line);
    }

    fn visit_path(&mut self, path: &'a Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.take(&segments, path.span().start().line);
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(module: &[&str], text: &str) -> Source {
        Source {
            path: module.join("/").into(),
            text: text.to_string(),
            file: syn::parse_file(text).unwrap(),
            module: module.iter().map(|name| name.to_string()).collect(),
            tests: Vec::new(),
        }
    }

    #[test]
    fn a_circle_is_found_through_uses_paths_and_names_of_the_root() {
        let sources = [
            source(&[], "mod a; mod b; mod c; mod d; pub use c::Thing;"),
            source(&["a"], "use crate::b::{self, x as y};"),
            source(&["b"], "fn f() -> crate::Thing { g() }"),
            source(&["c", "deep"], "fn f() { super::super::a::g() }"),
            source(&["d"], "use std::fmt; use crate::a;"),
        ];
        let imports = Imports::of(&sources);
        assert_eq!(imports.largest_circle(), ["a", "b", "c"]);
        assert_eq!(imports.within(&["a", "b"]).collect::<Vec<_>>(), ["a:1: a names b"]);
    }

    #[test]
    fn modules_that_only_look_down_make_no_circle() {
        let sources = [
            source(&[], "mod a; mod b;"),
            source(&["a"], "use super::b::f;"),
            source(&["b"], "use self::inner::f;"),
        ];
        assert!(Imports::of(&sources).largest_circle().is_empty());
    }
}
