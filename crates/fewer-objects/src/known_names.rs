//! The names of a build, numbered: objects, packs and linked files look theirs up once, and everything that is asked by
//! name afterwards is a place in a list. What having a name means is told elsewhere.

use rayon::prelude::*;

use crate::name_map::NameMap;
use crate::scan::BuildTree;
use crate::summary::NameKey;

/// A name by its place among those of the build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameNumber(u32);

impl NameNumber {
    /// Stands for a name that no object has.
    const NONE: NameNumber = NameNumber(u32::MAX);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All names that objects define or ask for; also those of packed elements that no object holds any more, which are
/// then defined nowhere.
pub struct KnownNames {
    numbers: NameMap<NameNumber>,
    /// Per object and symbol.
    objects: Vec<Vec<NameNumber>>,
    /// Per pack and name.
    packs: Vec<Vec<NameNumber>>,
    /// Per linked file and symbol.
    images: Vec<Vec<NameNumber>>,
}

impl KnownNames {
    pub fn of(tree: &BuildTree) -> KnownNames {
        let mut numbers: NameMap<NameNumber> = NameMap::default();
        let own: usize = tree.objects.iter().map(|object| object.summary.symbols.len()).sum();
        let common: usize = tree.packs.iter().map(|packed| packed.pack.names.len()).sum();
        numbers.reserve(own / 2 + common);
        let mut number = |key: NameKey| {
            let next = NameNumber(numbers.len() as u32);
            *numbers.entry(key).or_insert(next)
        };
        let packs = tree.packs.iter();
        let packs = packs.map(|packed| packed.pack.names.iter().map(|name| number(name.key)).collect());
        let packs = packs.collect();
        let objects = tree.objects.iter();
        let objects =
            objects.map(|object| object.summary.symbols.iter().map(|symbol| number(symbol.key)).collect());
        let objects = objects.collect();
        let find = |key| numbers.get(&key).copied().unwrap_or(NameNumber::NONE);
        let images = tree
            .images
            .par_iter()
            .map(|image| image.summary.symbols.iter().map(|symbol| find(symbol.key)).collect())
            .collect();
        KnownNames { numbers, objects, packs, images }
    }

    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    pub fn find(&self, key: NameKey) -> NameNumber {
        self.numbers.get(&key).copied().unwrap_or(NameNumber::NONE)
    }

    pub fn of_symbol(&self, object: u32, symbol: u32) -> NameNumber {
        self.objects[object as usize][symbol as usize]
    }

    pub fn of_packed(&self, pack: u32, name: u32) -> NameNumber {
        self.packs[pack as usize][name as usize]
    }

    /// Per symbol of a linked file its name.
    pub fn of_image(&self, image: usize) -> &[NameNumber] {
        &self.images[image]
    }
}

/// Things by name, as lists threaded through one array: most names have one.
pub struct ByName<T> {
    /// Per name the newest entry.
    heads: Vec<u32>,
    /// Each with the next older one of the same name.
    entries: Vec<(T, u32)>,
}

const NO_ENTRY: u32 = u32::MAX;

impl<T: Copy> ByName<T> {
    pub fn with_room(names: &KnownNames, entries: usize) -> ByName<T> {
        ByName { heads: vec![NO_ENTRY; names.count()], entries: Vec::with_capacity(entries) }
    }

    pub fn add(&mut self, name: NameNumber, item: T) {
        let newest = self.entries.len() as u32;
        let older = std::mem::replace(&mut self.heads[name.index()], newest);
        self.entries.push((item, older));
    }

    /// What has the name, the newest first.
    pub fn of(&self, name: NameNumber) -> impl Iterator<Item = T> + '_ {
        let mut next = self.heads.get(name.index()).copied().unwrap_or(NO_ENTRY);
        std::iter::from_fn(move || {
            let &(item, older) = self.entries.get(next as usize)?;
            next = older;
            Some(item)
        })
    }

    /// Per name all that has it.
    pub fn lists(&self) -> impl Iterator<Item = impl Iterator<Item = T> + '_> {
        (0..self.heads.len() as u32).map(|name| self.of(NameNumber(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_name_is_found_by_it_and_an_unknown_name_has_nothing() {
        let numbers: NameMap<NameNumber> =
            [b"a", b"b", b"c"].map(|name| NameKey::of(name)).into_iter().zip((0..).map(NameNumber)).collect();
        let names = KnownNames { numbers, objects: Vec::new(), packs: Vec::new(), images: Vec::new() };
        let mut things: ByName<char> = ByName::with_room(&names, 3);
        let [a, b, c, unknown] = [b"a", b"b", b"c", b"d"].map(|name| names.find(NameKey::of(name)));
        things.add(a, '1');
        things.add(c, '2');
        things.add(a, '3');
        let of = |name| things.of(name).collect::<String>();
        assert_eq!([of(a), of(b), of(c), of(unknown)], ["31", "", "2", ""]);
        assert_eq!(things.lists().map(|list| list.collect()).collect::<Vec<String>>(), ["31", "", "2"]);
    }
}
