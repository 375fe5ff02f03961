//! Which objects make up which program: judged by the symbols that a linked file still names, so that no build
//! system needs to be understood. On doubt an object belongs.

use std::collections::{BTreeMap, HashMap};

use crate::image::{ImageSummary, TableEntry};
use crate::image_set::ImageSet;
use crate::known_names::{ByName, KnownNames, NameNumber};
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contested {
    pub object: usize,
    pub image: usize,
    pub names: Vec<NameKey>,
}

impl Contested {
    pub fn is_among(&self, exclusions: &[Exclusion]) -> bool {
        exclusions.iter().any(|excluded| (excluded.object, excluded.image) == (self.object, self.image))
    }
}

/// Where names and sizes do not tell: left-over objects of deleted files, programs that define the same name.
pub fn contested(tree: &BuildTree, names: &KnownNames, members: &DirectMembers) -> Vec<Contested> {
    let direct = &members.sets;
    let mut strong: ByName<u32> = ByName::with_room(names, tree.objects.len());
    for (object, file) in (0..).zip(&tree.objects) {
        for (symbol, _) in (0..).zip(&file.summary.symbols).filter(|(_, symbol)| is_strong(symbol)) {
            strong.add(names.of_symbol(object, symbol), object);
        }
    }
    let mut rivals: BTreeMap<(usize, usize), Vec<NameKey>> = BTreeMap::new();
    for Definition { object: other, name, key } in definitions_among(tree, names, &strong) {
        for object in strong.of(name).map(|object| object as usize).filter(|&object| object != other) {
            for image in direct[object].iter().filter(|&image| direct[other].contains(image)) {
                rivals.entry((object, image)).or_default().push(key);
            }
        }
    }
    for (object, partial) in members.partial.iter().enumerate() {
        for image in partial.iter() {
            let strong = tree.objects[object].summary.symbols.iter().filter(|symbol| is_strong(symbol));
            rivals.entry((object, image)).or_default().extend(strong.map(|symbol| symbol.key));
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

/// An object that defines a name.
struct Definition {
    object: usize,
    name: NameNumber,
    key: NameKey,
}

/// The objects that define a name that another object may define strongly.
fn definitions_among(tree: &BuildTree, names: &KnownNames, strong: &ByName<u32>) -> Vec<Definition> {
    let mut found = Vec::new();
    let is_definition = |linkage: Linkage| matches!(linkage, Linkage::Strong | Linkage::Weak);
    for (object, file) in (0..).zip(&tree.objects) {
        for (symbol, SymbolSummary { key, linkage, .. }) in (0..).zip(&file.summary.symbols) {
            let name = names.of_symbol(object, symbol);
            // A strong name that only this object defines has no rival.
            if is_definition(*linkage) && strong.of(name).any(|other| other != object) {
                found.push(Definition { object: object as usize, name, key: *key });
            }
        }
    }
    let mut in_packs: HashMap<Common, Vec<(NameNumber, NameKey)>> = HashMap::new();
    for (pack, packed) in (0..).zip(tree.packs.iter()) {
        for element in 0..packed.pack.elements.len() as u32 {
            for symbol in
                packed.pack.symbols_of(element).iter().filter(|symbol| is_definition(symbol.linkage))
            {
                let name = names.of_packed(pack, symbol.name);
                if strong.of(name).next().is_some() {
                    let key = packed.pack.names[symbol.name as usize].key;
                    in_packs.entry(Common { pack, element }).or_default().push((name, key));
                }
            }
        }
    }
    if !in_packs.is_empty() {
        for (object, file) in tree.objects.iter().enumerate() {
            let defined = file.summary.commons.iter().filter_map(|common| in_packs.get(common)).flatten();
            found.extend(defined.map(|&(name, key)| Definition { object, name, key }));
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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DirectMembers {
    pub sets: Vec<ImageSet>,
    pub partial: Vec<ImageSet>,
}

impl DirectMembers {
    /// Per object the linked files it is part of, once doubt is settled.
    pub fn without(mut self, exclusions: &[Exclusion]) -> Vec<ImageSet> {
        exclusions.iter().for_each(|excluded| self.sets[excluded.object].remove(excluded.image));
        self.sets
    }
}

/// Everything that tells which objects are in which linked files: sizes change in every edit, the rest seldom.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    /// Per object.
    pub telling: Vec<Vec<Told>>,
    /// Per linked file where the objects' telling symbols are in it.
    pub occurrences: Vec<Vec<Occurrence>>,
    pub stripped: Vec<bool>,
}

/// A symbol of an object that tells where its object was linked, but for its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    pub size: u32,
    pub weight: Weight,
}

/// A symbol of a linked file that has the name of an object's telling symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    pub object: u32,
    /// Which of the object's telling symbols.
    pub told: u32,
    pub entry: TableEntry,
    pub size: u32,
}

impl Evidence {
    pub fn of(tree: &BuildTree, names: &KnownNames) -> Evidence {
        let telling: Vec<Vec<Telling>> =
            (0..tree.objects.len() as u32).map(|object| telling(tree, names, object)).collect();
        let mut by_name: ByName<(u32, u32)> = ByName::with_room(names, telling.iter().map(Vec::len).sum());
        for (object, telling) in (0..).zip(&telling) {
            for (told, telling) in (0..).zip(telling) {
                by_name.add(telling.name, (object, told));
            }
        }
        let of_image = |(image, file): (usize, &Scanned<ImageSummary>)| {
            let symbols = file.summary.symbols.iter().zip(names.of_image(image));
            let found = symbols.flat_map(|(symbol, &name)| {
                let (entry, size) = (symbol.entry, symbol.size);
                by_name.of(name).map(move |(object, told)| Occurrence { object, told, entry, size })
            });
            found.collect()
        };
        let occurrences = tree.images.iter().enumerate().map(of_image).collect();
        let told = |telling: &Vec<Telling>| telling.iter().map(|telling| telling.told).collect();
        Evidence {
            telling: telling.iter().map(told).collect(),
            occurrences,
            stripped: tree.images.iter().map(|image| image.summary.is_stripped()).collect(),
        }
    }

    pub fn direct_members(&self) -> DirectMembers {
        let count = self.stripped.len();
        let mut stripped = ImageSet::empty(count);
        (0..count).filter(|&image| self.stripped[image]).for_each(|image| stripped.insert(image));
        let mut tallies = vec![vec![Tally::default(); count]; self.telling.len()];
        for (image, occurrences) in self.occurrences.iter().enumerate() {
            for found in occurrences {
                let told = &self.telling[found.object as usize][found.told as usize];
                tallies[found.object as usize][image].count(told, found);
            }
        }
        let settle = |(telling, tallies): (&Vec<Told>, &Vec<Tally>)| settle(telling, tallies, &stripped);
        let (sets, partial) = self.telling.iter().zip(&tallies).map(settle).unzip();
        DirectMembers { sets, partial }
    }
}

fn is_strong(symbol: &SymbolSummary) -> bool {
    symbol.linkage == Linkage::Strong
}

/// How much a symbol tells about where its object was linked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Weight {
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
    name: NameNumber,
    told: Told,
}

/// Which of the symbols that an object keeps for itself tell something, and what.
fn told_by_own(summary: &ObjectSummary) -> impl Iterator<Item = (u32, Told)> + '_ {
    (0..).zip(&summary.symbols).filter_map(|(index, symbol)| {
        let weight = match symbol.linkage {
            Linkage::Undefined => return None,
            Linkage::Strong => Weight::Strong,
            Linkage::Local if summary.name(symbol.name).starts_with(b"_GLOBAL_") => Weight::Initialiser,
            Linkage::Local | Linkage::Weak => Weight::Weak,
        };
        Some((index, Told { size: symbol.size, weight }))
    })
}

/// What the symbols of an object tell that has the same names as before, but may have other sizes. What it shares with
/// others comes last, and is the same.
pub fn told_again(summary: &ObjectSummary, before: &[Told]) -> Option<Vec<Told>> {
    let own: Vec<Told> = told_by_own(summary).map(|(_, told)| told).collect();
    let is_telling = own.iter().any(|told| told.weight > Weight::Weak);
    let told: Vec<Told> = match is_telling {
        true => own.into_iter().filter(|told| told.weight > Weight::Weak).collect(),
        false => own.iter().chain(before.get(own.len()..)?).copied().collect(),
    };
    (told.len() == before.len()).then_some(told)
}

/// The symbols that tell most: strong names and initialisers, or whatever the object has if it has neither.
fn telling(tree: &BuildTree, names: &KnownNames, object: u32) -> Vec<Telling> {
    let summary = &tree.objects[object as usize].summary;
    let own = |(symbol, told)| Telling { name: names.of_symbol(object, symbol), told };
    let mut telling: Vec<Telling> = told_by_own(summary).map(own).collect();
    if telling.iter().any(|telling| telling.told.weight > Weight::Weak) {
        telling.retain(|telling| telling.told.weight > Weight::Weak);
        return telling;
    }
    for common in &summary.commons {
        let symbols = tree.packs[common.pack as usize].pack.symbols_of(common.element);
        telling.extend(symbols.iter().map(|symbol| Telling {
            name: names.of_packed(common.pack, symbol.name),
            told: Told { size: symbol.size, weight: Weight::Weak },
        }));
    }
    telling
}

impl Told {
    fn is_strong(&self) -> bool {
        self.weight == Weight::Strong && self.size != 0
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
    fn count(&mut self, told: &Told, symbol: &Occurrence) {
        if symbol.size == told.size || told.size == UNKNOWN_SIZE {
            self.is_present = true;
            // Some linkers (mold, lld) make all names of a program local.
            self.present_strong += told.is_strong() as u32;
            self.global_strong += (told.is_strong() && symbol.entry.is_global()) as u32;
        } else if told.is_strong() && symbol.entry.is_global() && symbol.size != 0 {
            // A strong name is defined once in a program: this one was defined by another object.
            self.is_conflicting = true;
        }
    }
}

/// The linked files an object may be part of, and those of them that hold few of its strong names.
fn settle(telling: &[Told], tallies: &[Tally], stripped: &ImageSet) -> (ImageSet, ImageSet) {
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
