//! Which objects make up which program: judged by the symbols that a linked file still names, so that no build
//! system needs to be understood. On doubt an object belongs.

use std::collections::{BTreeMap, HashMap};

use crate::image::ImageSummary;
use crate::image_set::ImageSet;
use crate::name_map::NameMap;
use crate::pack::Pack;
use crate::scan::{BuildTree, Scanned};
use crate::summary::{Common, Linkage, NameKey, ObjectSummary, SymbolSummary};

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

/// A symbol as an image has it.
#[derive(Clone, Copy)]
struct Seen {
    image: u32,
    size: u32,
    is_global: bool,
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

pub fn direct_members(tree: &BuildTree) -> DirectMembers {
    let images = &tree.images;
    let telling: Vec<Vec<Telling>> =
        tree.objects.iter().map(|object| telling(tree, &object.summary)).collect();
    let mut seen: NameMap<Vec<Seen>> = NameMap::default();
    for told in telling.iter().flatten() {
        seen.entry(told.key).or_default();
    }
    let mut stripped = ImageSet::empty(images.len());
    for (image, file) in images.iter().enumerate() {
        if file.summary.is_stripped() {
            stripped.insert(image);
        }
        for symbol in &file.summary.symbols {
            if let Some(seen) = seen.get_mut(&symbol.key) {
                seen.push(Seen { image: image as u32, size: symbol.size, is_global: symbol.is_global });
            }
        }
    }
    let (sets, partial) =
        telling.iter().map(|telling| members_of(telling, &seen, &stripped, images.len())).unzip();
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

fn members_of(
    telling: &[Telling],
    seen: &NameMap<Vec<Seen>>,
    stripped: &ImageSet,
    count: usize,
) -> (ImageSet, ImageSet) {
    if telling.is_empty() {
        return (ImageSet::full(count), ImageSet::empty(count));
    }
    let mut present = ImageSet::empty(count);
    let mut conflicting = ImageSet::empty(count);
    let (mut present_strong, mut global_strong) = (vec![0u32; count], vec![0u32; count]);
    let mut strong = 0;
    for symbol in telling {
        let evidence = symbol.evidence;
        let is_strong = evidence == Evidence::Strong && symbol.size != 0;
        strong += is_strong as u32;
        for &Seen { image, size, is_global } in seen.get(&symbol.key).map_or(&[][..], Vec::as_slice) {
            if size == symbol.size {
                present.insert(image as usize);
                // Some linkers (mold, lld) make all names of a program local.
                present_strong[image as usize] += is_strong as u32;
                global_strong[image as usize] += (is_strong && is_global) as u32;
            } else if evidence == Evidence::Strong && is_global && size != 0 && symbol.size != 0 {
                // A strong name is defined once in a program: this one was defined by another object.
                conflicting.insert(image as usize);
            }
        }
    }
    let mut members = ImageSet::empty(count);
    present.iter().filter(|&image| !conflicting.contains(image)).for_each(|image| members.insert(image));
    let mut partial = ImageSet::empty(count);
    let is_doubtful = |&image: &usize| {
        let count = present_strong[image];
        let is_most = count * 2 > strong && strong > FEW_NAMES;
        global_strong[image] < strong && count <= FEW_NAMES && !is_most
    };
    members.iter().filter(is_doubtful).for_each(|image| partial.insert(image));
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
