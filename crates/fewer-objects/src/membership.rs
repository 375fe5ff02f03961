//! Which objects make up which program: judged by the symbols that a linked file still names, so that no build
//! system needs to be understood. On doubt an object belongs.

use std::collections::{BTreeMap, HashMap};

use crate::image::{ImageSummary, ImageSymbol};
use crate::image_set::ImageSet;
use crate::known_names::{KnownNames, NO_NAME};
use crate::name_map::NameMap;
use crate::pack::Pack;
use crate::scan::{BuildTree, Scanned};
use crate::summary::{Common, Linkage, NameKey, ObjectSummary, SymbolSummary, UNKNOWN_SIZE};

/// Functions through which a program may load a library that it does not name.
const LOADERS: [&[u8]; 3] = [b"dlopen", b"dlmopen", b"android_dlopen_ext"];

/// So few strong names of an object may be in a linked file by coincidence, unless they are most of many. Where
/// there are more, the others were dropped as unused.
const FEW_NAMES: u32 = 2;

/// Per object the linked files it is part of.
pub struct Memberships {
    /// Linked into the file itself.
    pub direct: Vec<ImageSet>,
    /// In the file, or in a library of the project that the file uses.
    pub used: Vec<ImageSet>,
}

/// An object that is not part of a linked file although its symbols would allow it.
pub struct Exclusion {
    pub object: usize,
    pub image: usize,
}

/// Strong names of an object that another object of the same linked file defines too, or all of them where the
/// file holds so few that the object may not be in it at all.
pub struct Contested {
    pub object: usize,
    pub image: usize,
    pub names: Vec<NameKey>,
}

/// Where names and sizes do not tell: left-over objects of deleted files, programs that define the same name.
pub fn contested(tree: &BuildTree, members: &DirectMembers) -> Vec<Contested> {
    let direct = &members.sets;
    let mut strong: NameMap<Vec<u32>> = NameMap::default();
    for (object, file) in tree.objects.iter().enumerate() {
        for key in strong_names(&file.summary) {
            strong.entry(key).or_default().push(object as u32);
        }
    }
    let mut rivals: BTreeMap<(usize, usize), Vec<NameKey>> = BTreeMap::new();
    for (other, key) in definitions_among(tree, &strong) {
        for object in strong[&key].iter().map(|&object| object as usize).filter(|&object| object != other) {
            for image in direct[object].iter().filter(|&image| direct[other].contains(image)) {
                rivals.entry((object, image)).or_default().push(key);
            }
        }
    }
    for (object, partial) in members.partial.iter().enumerate() {
        for image in partial.iter() {
            rivals.entry((object, image)).or_default().extend(strong_names(&tree.objects[object].summary));
        }
    }
    rivals
        .into_iter()
        .map(|((object, image), mut names)| {
            names.sort_unstable();
            names.dedup();
            Contested { object, image, names }
        })
        .collect()
}

/// The objects that define a name of which there is a strong definition somewhere, with the name.
fn definitions_among(tree: &BuildTree, strong: &NameMap<Vec<u32>>) -> Vec<(usize, NameKey)> {
    let mut found = Vec::new();
    let is_definition = |linkage: Linkage| matches!(linkage, Linkage::Strong | Linkage::Weak);
    for (object, file) in tree.objects.iter().enumerate() {
        for symbol in file.summary.symbols.iter().filter(|symbol| is_definition(symbol.linkage)) {
            // A strong name that only this object defines has no rival.
            let is_shared = || strong.get(&symbol.key).is_some_and(|objects| *objects != [object as u32]);
            if is_shared() {
                found.push((object, symbol.key));
            }
        }
    }
    let mut in_packs: HashMap<Common, Vec<NameKey>> = HashMap::new();
    for (pack, packed) in tree.packs.iter().enumerate() {
        for element in 0..packed.pack.elements.len() as u32 {
            for symbol in
                packed.pack.symbols_of(element).iter().filter(|symbol| is_definition(symbol.linkage))
            {
                let key = packed.pack.names[symbol.name as usize].key;
                if strong.contains_key(&key) {
                    in_packs.entry(Common { pack: pack as u32, element }).or_default().push(key);
                }
            }
        }
    }
    if !in_packs.is_empty() {
        for (object, file) in tree.objects.iter().enumerate() {
            let keys = file.summary.commons.iter().filter_map(|common| in_packs.get(common)).flatten();
            found.extend(keys.map(|&key| (object, key)));
        }
    }
    found
}

/// The memberships with what follows from them. `direct` is per object.
pub fn memberships(tree: &BuildTree, direct: Vec<ImageSet>) -> Memberships {
    let images = &tree.images;
    let closures = library_closures(images, &loading_images(tree, &direct));
    let used = direct
        .iter()
        .map(|set| {
            let mut programs = ImageSet::empty(images.len());
            for (program, closure) in closures.iter().enumerate() {
                if set.intersects(closure) {
                    programs.insert(program);
                }
            }
            programs
        })
        .collect();
    Memberships { direct, used }
}

/// What the symbols alone tell: per object the linked files it may be part of, and of those the ones that hold
/// few of its strong names.
pub struct DirectMembers {
    sets: Vec<ImageSet>,
    partial: Vec<ImageSet>,
}

impl DirectMembers {
    /// Per object the linked files it is part of, once doubt is settled.
    pub fn without(mut self, exclusions: &[Exclusion]) -> Vec<ImageSet> {
        exclusions.iter().for_each(|excluded| self.sets[excluded.object].remove(excluded.image));
        self.sets
    }
}

pub fn direct_members(tree: &BuildTree, names: &KnownNames) -> DirectMembers {
    let telling: Vec<Vec<Telling>> =
        tree.objects.iter().map(|object| telling(tree, &object.summary)).collect();
    let by_name = TellingByName::of(&telling, names);
    let mut stripped = ImageSet::empty(tree.images.len());
    let mut tallies = vec![vec![Tally::default(); tree.images.len()]; tree.objects.len()];
    for (image, file) in tree.images.iter().enumerate() {
        if file.summary.is_stripped() {
            stripped.insert(image);
        }
        for (symbol, name) in file.summary.symbols.iter().zip(names.of_image(image)) {
            by_name.of_name(name).for_each(|(object, told)| tallies[object][image].count(told, symbol));
        }
    }
    let settle = |(telling, tallies): (&Vec<Telling>, &Vec<Tally>)| settle(telling, tallies, &stripped);
    let (sets, partial) = telling.iter().zip(&tallies).map(settle).unzip();
    DirectMembers { sets, partial }
}

fn strong_names(summary: &ObjectSummary) -> impl Iterator<Item = NameKey> + '_ {
    summary.symbols.iter().filter(|symbol| symbol.linkage == Linkage::Strong).map(|symbol| symbol.key)
}

/// How much a symbol tells about where its object was linked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// A local or shared name, which unrelated objects may have too.
    Weak,
    /// The name of an initialiser: local, but made from the object's own names, and kept even where the linker
    /// drops unused sections.
    Initialiser,
    /// Defined at most once in a program.
    Strong,
}

/// A symbol that tells where its object was linked.
struct Telling {
    key: NameKey,
    size: u32,
    evidence: Evidence,
}

/// The symbols that tell most: strong names and initialisers, or whatever the object has if it has neither.
fn telling(tree: &BuildTree, summary: &ObjectSummary) -> Vec<Telling> {
    let own = |symbol: &SymbolSummary| {
        let evidence = match symbol.linkage {
            Linkage::Undefined => return None,
            Linkage::Strong => Evidence::Strong,
            Linkage::Local if summary.name(symbol.name).starts_with(b"_GLOBAL_") => Evidence::Initialiser,
            Linkage::Local | Linkage::Weak => Evidence::Weak,
        };
        Some(Telling { key: symbol.key, size: symbol.size, evidence })
    };
    let mut telling: Vec<Telling> = summary.symbols.iter().filter_map(own).collect();
    if telling.iter().any(|told| told.evidence > Evidence::Weak) {
        telling.retain(|told| told.evidence > Evidence::Weak);
        return telling;
    }
    for common in &summary.commons {
        let pack = &tree.packs[common.pack as usize].pack;
        telling.extend(pack.symbols_of(common.element).iter().map(|symbol| Telling {
            key: pack.names[symbol.name as usize].key,
            size: symbol.size,
            evidence: Evidence::Weak,
        }));
    }
    telling
}

impl Telling {
    fn is_strong(&self) -> bool {
        self.evidence == Evidence::Strong && self.size != 0
    }
}

/// The telling symbols of all objects by name, as lists threaded through one array.
struct TellingByName<'t> {
    /// Per name the newest entry.
    heads: Vec<u32>,
    /// With its object, and the next older entry of the same name.
    entries: Vec<(&'t Telling, u32, u32)>,
}

impl<'t> TellingByName<'t> {
    fn of(telling: &'t [Vec<Telling>], names: &KnownNames) -> TellingByName<'t> {
        let mut by_name = TellingByName { heads: vec![NO_NAME; names.count()], entries: Vec::new() };
        for (object, told) in telling
            .iter()
            .zip(0..)
            .flat_map(|(telling, object)| telling.iter().map(move |told| (object, told)))
        {
            let Some(name) = names.number(told.key) else { continue };
            let older = std::mem::replace(&mut by_name.heads[name as usize], by_name.entries.len() as u32);
            by_name.entries.push((told, object, older));
        }
        by_name
    }

    fn of_name(&self, name: u32) -> impl Iterator<Item = (usize, &'t Telling)> + '_ {
        let mut next = self.heads.get(name as usize).copied().unwrap_or(NO_NAME);
        std::iter::from_fn(move || {
            let &(told, object, older) = self.entries.get(next as usize)?;
            next = older;
            Some((object as usize, told))
        })
    }
}

/// What a linked file has of an object's telling symbols.
#[derive(Clone, Copy, Default)]
struct Tally {
    is_present: bool,
    is_conflicting: bool,
    present_strong: u32,
    global_strong: u32,
}

impl Tally {
    fn count(&mut self, told: &Telling, symbol: &ImageSymbol) {
        if symbol.size == told.size || told.size == UNKNOWN_SIZE {
            self.is_present = true;
            // Some linkers (mold, lld) make all names of a program local.
            self.present_strong += told.is_strong() as u32;
            self.global_strong += (told.is_strong() && symbol.is_global) as u32;
        } else if told.is_strong() && symbol.is_global && symbol.size != 0 {
            // A strong name is defined once in a program: this one was defined by another object.
            self.is_conflicting = true;
        }
    }
}

/// The linked files an object may be part of, and those of them that hold few of its strong names.
fn settle(telling: &[Telling], tallies: &[Tally], stripped: &ImageSet) -> (ImageSet, ImageSet) {
    let count = tallies.len();
    if telling.is_empty() {
        return (ImageSet::full(count), ImageSet::empty(count));
    }
    let strong = telling.iter().filter(|told| told.is_strong()).count() as u32;
    let mut members = ImageSet::empty(count);
    let mut partial = ImageSet::empty(count);
    for (image, tally) in tallies.iter().enumerate() {
        if !tally.is_present || tally.is_conflicting {
            continue;
        }
        members.insert(image);
        let is_most = tally.present_strong * 2 > strong && strong > FEW_NAMES;
        if tally.global_strong < strong && tally.present_strong <= FEW_NAMES && !is_most {
            partial.insert(image);
        }
    }
    members.extend(stripped);
    (members, partial)
}

/// Programs that may load any library of the project while they run.
fn loading_images(tree: &BuildTree, direct: &[ImageSet]) -> ImageSet {
    let loaders = LOADERS.map(NameKey::of);
    let loads: Vec<Vec<bool>> =
        tree.packs.iter().map(|packed| loading_commons(&packed.pack, &loaders)).collect();
    let mut loading = ImageSet::empty(tree.images.len());
    for (object, members) in tree.objects.iter().zip(direct) {
        let names_loader =
            |symbol: &SymbolSummary| symbol.linkage == Linkage::Undefined && loaders.contains(&symbol.key);
        let is_loading = |common: &Common| {
            loads[common.pack as usize].get(common.element as usize).is_some_and(|loads| *loads)
        };
        if object.summary.symbols.iter().any(names_loader) || object.summary.commons.iter().any(is_loading) {
            loading.extend(members);
        }
    }
    loading
}

/// Per element of a pack whether it refers to a loader; empty if none does.
fn loading_commons(pack: &Pack, loaders: &[NameKey]) -> Vec<bool> {
    let is_loader = |name: u32| loaders.contains(&pack.names[name as usize].key);
    if !(0..pack.names.len() as u32).any(is_loader) {
        return Vec::new();
    }
    let elements = 0..pack.elements.len() as u32;
    elements.map(|element| pack.references_of(element).iter().any(|&name| is_loader(name))).collect()
}

/// Per image itself and the project's libraries that it needs, directly or through others.
fn library_closures(images: &[Scanned<ImageSummary>], loading: &ImageSet) -> Vec<ImageSet> {
    let file_name = |name: &str| name.rsplit('/').next().unwrap_or(name).to_string();
    let provides = |image: &Scanned<ImageSummary>, needed: &str| {
        image.summary.is_library
            && (image.summary.soname == needed || file_name(&image.name) == file_name(needed))
    };
    let all_libraries: Vec<usize> =
        (0..images.len()).filter(|&image| images[image].summary.is_library).collect();
    (0..images.len())
        .map(|start| {
            let mut closure = ImageSet::empty(images.len());
            let mut stack = vec![start];
            while let Some(image) = stack.pop() {
                if closure.contains(image) {
                    continue;
                }
                closure.insert(image);
                let needed = &images[image].summary.needed;
                stack.extend(
                    all_libraries
                        .iter()
                        .filter(|&&library| needed.iter().any(|name| provides(&images[library], name))),
                );
                if loading.contains(image) {
                    stack.extend(&all_libraries);
                }
            }
            closure
        })
        .collect()
}
