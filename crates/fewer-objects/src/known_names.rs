//! The names that the objects of a build have, numbered, and which of them each symbol of a linked file has: looked up
//! once for all who ask. What having a name means is told elsewhere.

use rayon::prelude::*;

use crate::name_map::NameMap;
use crate::scan::BuildTree;
use crate::summary::{Linkage, NameKey};

/// Stands for a name that no object has.
pub const NO_NAME: u32 = u32::MAX;

pub struct KnownNames {
    numbers: NameMap<u32>,
    /// Per linked file and symbol.
    images: Vec<Vec<u32>>,
}

impl KnownNames {
    /// All names but those that objects only ask for.
    pub fn of(tree: &BuildTree) -> KnownNames {
        let mut numbers: NameMap<u32> = NameMap::default();
        let held = tree.held_commons();
        let own: usize = tree.objects.iter().map(|object| object.summary.symbols.len()).sum();
        numbers.reserve(own + held.len());
        let mut number = |key: NameKey| {
            let next = numbers.len() as u32;
            numbers.entry(key).or_insert(next);
        };
        for symbol in tree.objects.iter().flat_map(|object| &object.summary.symbols) {
            if symbol.linkage != Linkage::Undefined {
                number(symbol.key);
            }
        }
        for (pack, element) in held {
            pack.symbols_of(element).iter().for_each(|symbol| number(pack.names[symbol.name as usize].key));
        }
        let find = |key| numbers.get(&key).copied().unwrap_or(NO_NAME);
        let images = tree
            .images
            .par_iter()
            .map(|image| image.summary.symbols.iter().map(|symbol| find(symbol.key)).collect())
            .collect();
        KnownNames { numbers, images }
    }

    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    pub fn number(&self, key: NameKey) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (NameKey, u32)> + '_ {
        self.numbers.iter().map(|(key, number)| (*key, *number))
    }

    /// Per symbol of a linked file its name.
    pub fn of_image(&self, image: usize) -> impl Iterator<Item = u32> + '_ {
        self.images[image].iter().copied()
    }
}
