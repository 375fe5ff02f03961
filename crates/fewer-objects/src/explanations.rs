//! Which symbols of a linked file the local names of its objects explain. Names that other files can see are matched
//! by the linking step; what is left over is read by `foreign`.

use crate::image::ImageSymbol;
use crate::image_set::ImageSet;
use crate::name_map::SizedNameMap;
use crate::summary::{NameKey, UNKNOWN_SIZE};

/// A symbol of a linked file that no definition of its objects explains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub symbol: ImageSymbol,
    /// Whether it is taken for a local symbol of an object.
    pub is_explained: bool,
}

/// A local name of an object, or of an element that several objects share, which has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    pub object: Option<u32>,
    /// The linked files that its objects are part of.
    pub images: ImageSet,
    pub key: NameKey,
    pub size: u32,
}

/// The local names of a build that may explain symbols of linked files.
pub struct Explanations<'l> {
    /// By name and size the newest entry.
    heads: SizedNameMap<u32>,
    /// The linked files of each, with the next older entry of the same name and size.
    entries: Vec<(&'l ImageSet, u32)>,
    has_unknown_sizes: bool,
}

const NO_ENTRY: u32 = u32::MAX;

impl<'l> Explanations<'l> {
    pub fn of(locals: impl IntoIterator<Item = &'l Local>) -> Explanations<'l> {
        let mut explanations =
            Explanations { heads: SizedNameMap::default(), entries: Vec::new(), has_unknown_sizes: false };
        for local in locals {
            let newest = explanations.entries.len() as u32;
            let older = explanations.heads.insert((local.key, local.size), newest).unwrap_or(NO_ENTRY);
            explanations.entries.push((&local.images, older));
            explanations.has_unknown_sizes |= local.size == UNKNOWN_SIZE;
        }
        explanations
    }

    fn of_size(&self, key: NameKey, size: u32) -> impl Iterator<Item = &'l ImageSet> + '_ {
        let mut next = self.heads.get(&(key, size)).copied().unwrap_or(NO_ENTRY);
        std::iter::from_fn(move || {
            let &(images, older) = self.entries.get(next as usize)?;
            next = older;
            Some(images)
        })
    }

    /// Those that may be a symbol, of all linked files.
    fn of_symbol(&self, symbol: &ImageSymbol) -> impl Iterator<Item = &'l ImageSet> + '_ {
        let key = symbol.key;
        let unknown = self.has_unknown_sizes.then_some(UNKNOWN_SIZE).into_iter();
        self.of_size(key, symbol.size).chain(unknown.flat_map(move |size| self.of_size(key, size)))
    }

    /// Judges which symbols of a linked file are local ones of its objects: those of which there are no more, by name
    /// and size, than its objects have. Tells whether that is another judgement than before.
    pub fn judge(&self, candidates: &mut [Candidate], image: usize) -> bool {
        let mut known: SizedNameMap<(ImageSymbol, usize)> = SizedNameMap::default();
        for Candidate { symbol, .. } in candidates.iter() {
            if !symbol.entry.is_global() && self.of_symbol(symbol).next().is_some() {
                known.entry((symbol.key, symbol.size)).or_insert((*symbol, 0)).1 += 1;
            }
        }
        let has_enough = |symbol: &ImageSymbol, there: usize| {
            self.of_symbol(symbol).filter(|images| images.contains(image)).count() >= there
        };
        known.retain(|_, (symbol, there)| has_enough(symbol, *there));
        let mut is_changed = false;
        for Candidate { symbol, is_explained } in candidates {
            let is_local = !symbol.entry.is_global() && known.contains_key(&(symbol.key, symbol.size));
            is_changed |= std::mem::replace(is_explained, is_local) != is_local;
        }
        is_changed
    }
}
