//! Which objects make up which program: judged by the symbols that a linked file still names, so that no build
//! system needs to be understood. On doubt an object belongs.

use std::collections::HashSet;

use crate::image::ImageSummary;
use crate::image_set::ImageSet;
use crate::name_map::{NameMap, NameSet};
use crate::scan::Scanned;
use crate::summary::{Linkage, NameKey, ObjectSummary, SymbolSummary};

/// Functions through which a program may load a library that it does not name.
const LOADERS: [&[u8]; 3] = [b"dlopen", b"dlmopen", b"android_dlopen_ext"];

/// Per object the linked files it is part of.
pub struct Memberships {
    /// Linked into the file itself.
    pub direct: Vec<ImageSet>,
    /// In the file, or in a library of the project that the file uses.
    pub used: Vec<ImageSet>,
}

/// An object that is not part of a linked file although its symbols would allow it: names of both.
pub type Exclusion = (String, String);

/// Strong names of an object that another object of the same linked file defines too, or all of them where the
/// file holds only some: the others were dropped as unused, or the object is not in it at all.
pub struct Contested {
    pub object: usize,
    pub image: usize,
    pub names: Vec<NameKey>,
}

/// Where names and sizes do not tell: left-over objects of deleted files, programs that define the same name.
pub fn contested(objects: &[Scanned<ObjectSummary>], members: &DirectMembers) -> Vec<Contested> {
    let direct = &members.sets;
    let mut strong: NameMap<Vec<u32>> = NameMap::default();
    for (object, file) in objects.iter().enumerate() {
        for symbol in file.summary.symbols.iter().filter(|symbol| symbol.linkage == Linkage::Strong) {
            strong.entry(symbol.key).or_default().push(object as u32);
        }
    }
    let mut rivals: std::collections::BTreeMap<(usize, usize), Vec<NameKey>> = Default::default();
    for (other, file) in objects.iter().enumerate() {
        for symbol in &file.summary.symbols {
            if !matches!(symbol.linkage, Linkage::Strong | Linkage::Weak) {
                continue;
            }
            for &object in strong.get(&symbol.key).map_or(&[][..], Vec::as_slice) {
                let object = object as usize;
                if object != other && direct[object].intersects(&direct[other]) {
                    for image in direct[object].iter().filter(|&image| direct[other].contains(image)) {
                        rivals.entry((object, image)).or_default().push(symbol.key);
                    }
                }
            }
        }
    }
    for (object, partial) in members.partial.iter().enumerate() {
        for image in partial.iter() {
            rivals.entry((object, image)).or_default().extend(strong_names(&objects[object].summary));
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

pub fn memberships(
    objects: &[Scanned<ObjectSummary>],
    images: &[Scanned<ImageSummary>],
    members: DirectMembers,
    exclusions: &[Exclusion],
) -> Memberships {
    let mut direct = members.sets;
    for (object, image) in exclusions {
        let object = objects.iter().position(|file| file.name == *object);
        let image = images.iter().position(|file| file.name == *image);
        if let (Some(object), Some(image)) = (object, image) {
            direct[object].remove(image);
        }
    }
    let closures = library_closures(images, &loading_images(objects, images, &direct));
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
/// only some of its strong names.
pub struct DirectMembers {
    sets: Vec<ImageSet>,
    partial: Vec<ImageSet>,
}

pub fn direct_members(objects: &[Scanned<ObjectSummary>], images: &[Scanned<ImageSummary>]) -> DirectMembers {
    let telling: NameSet = objects
        .iter()
        .flat_map(|object| telling_symbols(&object.summary).map(|(symbol, _)| symbol.key))
        .collect();
    let mut seen: NameMap<Vec<Seen>> = NameMap::default();
    let mut stripped = ImageSet::empty(images.len());
    for (image, file) in images.iter().enumerate() {
        if file.summary.is_stripped() {
            stripped.insert(image);
        }
        for symbol in &file.summary.symbols {
            if telling.contains(&symbol.key) {
                seen.entry(symbol.key).or_default().push(Seen {
                    image: image as u32,
                    size: symbol.size,
                    is_global: symbol.is_global,
                });
            }
        }
    }
    let (sets, partial) =
        objects.iter().map(|object| members_of(&object.summary, &seen, &stripped, images.len())).unzip();
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

fn evidence(summary: &ObjectSummary, symbol: &SymbolSummary) -> Option<Evidence> {
    match symbol.linkage {
        Linkage::Undefined => None,
        Linkage::Strong => Some(Evidence::Strong),
        Linkage::Local if summary.name(symbol.name).starts_with(b"_GLOBAL_") => Some(Evidence::Initialiser),
        Linkage::Local | Linkage::Weak => Some(Evidence::Weak),
    }
}

/// The symbols that tell most: strong names and initialisers, or whatever the object has if it has neither.
fn telling_symbols(summary: &ObjectSummary) -> impl Iterator<Item = (&SymbolSummary, Evidence)> + '_ {
    let all = || summary.symbols.iter().filter_map(|symbol| Some((symbol, evidence(summary, symbol)?)));
    let least = if all().any(|(_, evidence)| evidence > Evidence::Weak) {
        Evidence::Initialiser
    } else {
        Evidence::Weak
    };
    all().filter(move |(_, evidence)| *evidence >= least)
}

fn members_of(
    summary: &ObjectSummary,
    seen: &NameMap<Vec<Seen>>,
    stripped: &ImageSet,
    count: usize,
) -> (ImageSet, ImageSet) {
    let mut is_mute = true;
    let mut present = ImageSet::empty(count);
    let mut conflicting = ImageSet::empty(count);
    let mut strong_present = vec![0u32; count];
    let mut strong = 0;
    for (symbol, evidence) in telling_symbols(summary) {
        is_mute = false;
        let is_strong = evidence == Evidence::Strong && symbol.size != 0;
        strong += is_strong as u32;
        for &Seen { image, size, is_global } in seen.get(&symbol.key).map_or(&[][..], Vec::as_slice) {
            if size == symbol.size {
                present.insert(image as usize);
                strong_present[image as usize] += (is_strong && is_global) as u32;
            } else if evidence == Evidence::Strong && is_global && size != 0 && symbol.size != 0 {
                // A strong name is defined once in a program: this one was defined by another object.
                conflicting.insert(image as usize);
            }
        }
    }
    if is_mute {
        return (ImageSet::full(count), ImageSet::empty(count));
    }
    let mut members = ImageSet::empty(count);
    present.iter().filter(|&image| !conflicting.contains(image)).for_each(|image| members.insert(image));
    let mut partial = ImageSet::empty(count);
    members.iter().filter(|&image| strong_present[image] < strong).for_each(|image| partial.insert(image));
    members.extend(stripped);
    (members, partial)
}

/// Programs that may load any library of the project while they run.
fn loading_images(
    objects: &[Scanned<ObjectSummary>],
    images: &[Scanned<ImageSummary>],
    direct: &[ImageSet],
) -> ImageSet {
    let loaders: HashSet<NameKey> = LOADERS.iter().map(|name| NameKey::of(name)).collect();
    let mut loading = ImageSet::empty(images.len());
    for (object, members) in objects.iter().zip(direct) {
        let is_undefined_loader =
            |symbol: &SymbolSummary| symbol.linkage == Linkage::Undefined && loaders.contains(&symbol.key);
        if object.summary.symbols.iter().any(is_undefined_loader) {
            loading.extend(members);
        }
    }
    loading
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
