//! Public types that go by a name another one has, words of languages and frameworks outside of their rooms, and patterns
//! over enums that only their own file may look into.

use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Macro, Pat, Path, Visibility};

use crate::Place;
use crate::source::Source;

/// Names that several public types have, with the places.
pub fn twice(sources: &[Source]) -> Vec<(String, Vec<Place>)> {
    let mut types: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for source in sources {
        let mut visitor = Types { source, found: &mut types };
        visitor.visit_file(&source.file);
    }
    types.into_iter().filter(|(_, places)| places.len() > 1).collect()
}

struct Types<'s, 'f> {
    source: &'s Source,
    found: &'f mut BTreeMap<String, Vec<Place>>,
}

impl<'a> Visit<'a> for Types<'_, '_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let (name, visibility) = match item {
            syn::Item::Struct(item) => (&item.ident, &item.vis),
            syn::Item::Enum(item) => (&item.ident, &item.vis),
            syn::Item::Trait(item) => (&item.ident, &item.vis),
            syn::Item::Type(item) => (&item.ident, &item.vis),
            _ => return visit::visit_item(self, item),
        };
        let line = name.span().start().line;
        if matches!(visibility, Visibility::Public(_)) && !self.source.is_test(line) {
            let place = Place { file: self.source.path.clone(), line };
            self.found.entry(name.to_string()).or_default().push(place);
        }
    }
}

/// Lines of code with one of the words, outside of the rooms.
pub fn words_outside(sources: &[Source], words: &[String], rooms: &[String]) -> Vec<Place> {
    let outside = sources.iter().filter(|source| !rooms.iter().any(|room| source.path.starts_with(room)));
    let places = outside.flat_map(|source| {
        let found = source.lines().filter(|(_, line)| words.iter().any(|word| line.contains(word.as_str())));
        found.map(|(line, _)| Place { file: source.path.clone(), line })
    });
    places.collect()
}

/// Places outside of its file where a pattern looks into an enum.
pub fn patterns(sources: &[Source], name: &str, home: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for source in sources.iter().filter(|source| !source.path.starts_with(home)) {
        let mut visitor = Patterns { name, lines: Vec::new() };
        visitor.visit_file(&source.file);
        let lines = visitor.lines.into_iter().filter(|line| !source.is_test(*line));
        places.extend(lines.map(|line| Place { file: source.path.clone(), line }));
    }
    places.sort();
    places.dedup();
    places
}

struct Patterns<'n> {
    name: &'n str,
    lines: Vec<usize>,
}

impl Patterns<'_> {
    fn look(&mut self, path: &Path) {
        if path.segments.iter().rev().nth(1).is_some_and(|segment| segment.ident == self.name) {
            self.lines.push(path.span().start().line);
        }
    }
}

impl<'a> Visit<'a> for Patterns<'_> {
    fn visit_pat(&mut self, pattern: &'a Pat) {
        match pattern {
            Pat::Path(pattern) => self.look(&pattern.path),
            Pat::TupleStruct(pattern) => self.look(&pattern.path),
            Pat::Struct(pattern) => self.look(&pattern.path),
            _ => {}
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        let is_match = called.path.segments.last().is_some_and(|segment| segment.ident == "matches");
        if is_match && called.tokens.to_string().contains(&format!("{} ::", self.name)) {
            self.lines.push(called.span().start().line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        let file = syn::parse_file(text).unwrap();
        Source { path: path.into(), text: text.to_string(), file, module: Vec::new(), tests: Vec::new() }
    }

    #[test]
    fn what_is_outside_of_its_room_is_found() {
        let words = ["maven".to_string()];
        let found =
            |text: &str| words_outside(&[source("a/b.rs", text)], &words, &["java".to_string()]).len();
        assert_eq!(found("// maven\nfn a() {}\nfn runs_Maven() {}"), 1);
        assert!(
            words_outside(&[source("java/b.rs", "fn maven() {}")], &words, &["java".to_string()]).is_empty()
        );
    }

    #[test]
    fn patterns_are_told_from_values() {
        let text = "fn f(r: R) -> R { match r { R::A => R::B, x::R::C(_) => R::A, _ => if matches!(r, R::D) { R::A } else { R::B } } }";
        assert_eq!(patterns(&[source("a.rs", &text.replace(", ", ",\n"))], "R", "b.rs").len(), 3);
        assert!(patterns(&[source("a.rs", text)], "R", "a.rs").is_empty());
    }

    #[test]
    fn names_that_two_types_have_are_found() {
        let sources = [
            source("a.rs", "pub struct A; pub(crate) struct B;"),
            source("b.rs", "pub enum A {} pub struct B;"),
        ];
        let twice = twice(&sources);
        assert_eq!(
            twice.iter().map(|(name, places)| (name.as_str(), places.len())).collect::<Vec<_>>(),
            [("A", 2)]
        );
    }
}
