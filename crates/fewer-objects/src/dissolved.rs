//! Objects that link-time optimisation may have dissolved: the linked file need not name anything of them any more.
//! They are found as a linker would, by what the objects that are surely in it ask for.

use crate::image_set::ImageSet;
use crate::name_map::{NameMap, NameSet};
use crate::scan::{BuildTree, Packed};
use crate::summary::{
    Common, Linkage, NameKey, ObjectSummary, SymbolSummary, TestRole, Traits, UNKNOWN_SIZE,
};
use crate::virtual_tables::VirtualName;

/// Adds, per object that was linked as bitcode, the linked files it may be part of without being named there.
pub fn add_dissolved(tree: &BuildTree, members: &mut [ImageSet]) {
    let soluble = soluble_objects(tree);
    if soluble.is_empty() {
        return;
    }
    let names: Vec<Names> = tree.objects.iter().map(|object| Names::of(tree, &object.summary)).collect();
    let mut definers = Definers::default();
    for &object in &soluble {
        definers.add(object, &names[object as usize]);
    }
    for image in 0..tree.images.len() {
        if !soluble.iter().any(|&object| members[object as usize].contains(image)) {
            continue;
        }
        let mut pending: Vec<u32> =
            (0..members.len() as u32).filter(|&object| members[object as usize].contains(image)).collect();
        let vanished = |object: &u32| {
            let summary = &tree.objects[*object as usize].summary;
            members[*object as usize].is_empty() && starts_something(summary)
        };
        pending.extend(soluble.iter().copied().filter(vanished).collect::<Vec<_>>());
        add_needed(image, pending, &names, &definers, members);
    }
}

/// Per linked file a name that several of its objects define, if the linker made code of bitcode there: which of them
/// it took cannot be told from the file.
pub fn ambiguous_names(tree: &BuildTree, members: &[ImageSet]) -> Vec<Option<NameKey>> {
    let soluble = soluble_objects(tree);
    let mut ambiguous = vec![None; tree.images.len()];
    if soluble.is_empty() {
        return ambiguous;
    }
    let mut definers: NameMap<Vec<u32>> = NameMap::default();
    for (object, file) in tree.objects.iter().enumerate() {
        let names = Names::of(tree, &file.summary);
        names.defined().for_each(|&key| definers.entry(key).or_default().push(object as u32));
    }
    for object in soluble.into_iter().map(|object| object as usize) {
        let strong = |symbol: &&SymbolSummary| symbol.linkage == Linkage::Strong;
        for symbol in tree.objects[object].summary.symbols.iter().filter(strong) {
            let others = definers[&symbol.key].iter().filter(|&&other| other as usize != object);
            for image in others.flat_map(|&other| members[other as usize].iter()) {
                if members[object].contains(image) {
                    ambiguous[image].get_or_insert(symbol.key);
                }
            }
        }
    }
    ambiguous
}

/// What an object defines for others, and what it asks others for.
#[derive(Default)]
struct Names {
    strong: Vec<NameKey>,
    /// Another object's strong definition takes the place of these.
    weak: Vec<NameKey>,
    asked: Vec<NameKey>,
}

impl Names {
    fn of(tree: &BuildTree, summary: &ObjectSummary) -> Names {
        let mut names = Names::default();
        for symbol in &summary.symbols {
            match symbol.linkage {
                Linkage::Undefined => names.asked.push(asked(symbol.key, summary.name(symbol.name))),
                Linkage::Weak => names.weak.push(symbol.key),
                Linkage::Strong => names.strong.push(symbol.key),
                Linkage::Local => {}
            }
        }
        for common in &summary.commons {
            let pack = &tree.packs[common.pack as usize].pack;
            let key = |name: u32| pack.names[name as usize].key;
            let asked = |&name: &u32| asked(key(name), pack.name(name));
            names.asked.extend(pack.references_of(common.element).iter().map(asked));
            for symbol in pack.symbols_of(common.element) {
                match symbol.linkage {
                    Linkage::Weak => names.weak.push(key(symbol.name)),
                    Linkage::Strong => names.strong.push(key(symbol.name)),
                    Linkage::Local | Linkage::Undefined => {}
                }
            }
        }
        names
    }

    fn defined(&self) -> impl Iterator<Item = &NameKey> {
        self.strong.iter().chain(&self.weak)
    }
}

/// The soluble objects that define a name.
#[derive(Default)]
struct Definers {
    strong: NameMap<Vec<u32>>,
    weak: NameMap<Vec<u32>>,
}

impl Definers {
    fn add(&mut self, object: u32, names: &Names) {
        names.strong.iter().for_each(|&key| self.strong.entry(key).or_default().push(object));
        names.weak.iter().for_each(|&key| self.weak.entry(key).or_default().push(object));
    }
}

/// The symbol that a reference asks for.
fn asked(key: NameKey, name: &[u8]) -> NameKey {
    match VirtualName::of(name) {
        Some(VirtualName::Entry { function, .. }) => NameKey::of(function),
        Some(VirtualName::Call(_)) | None => key,
    }
}

/// Adds every object that defines what a member asks for and no member defines, and every one whose strong definition
/// takes the place of a member's weak one.
fn add_needed(
    image: usize,
    mut pending: Vec<u32>,
    names: &[Names],
    definers: &Definers,
    members: &mut [ImageSet],
) {
    let of = |pending: &[u32], list: fn(&Names) -> &Vec<NameKey>| -> NameSet {
        pending.iter().flat_map(|&object| list(&names[object as usize]).iter().copied()).collect()
    };
    let mut strong = of(&pending, |names| &names.strong);
    let mut weak = of(&pending, |names| &names.weak);
    while let Some(object) = pending.pop() {
        members[object as usize].insert(image);
        let own = &names[object as usize];
        // What a member defines strongly asks for no other.
        for key in own.asked.iter().chain(&own.weak) {
            let strong_definers = definers.strong.get(key).filter(|_| !strong.contains(key));
            let weak_definers =
                definers.weak.get(key).filter(|_| !strong.contains(key) && !weak.contains(key));
            for &definer in strong_definers.into_iter().chain(weak_definers).flatten() {
                if !members[definer as usize].contains(image) {
                    members[definer as usize].insert(image);
                    strong.extend(&names[definer as usize].strong);
                    weak.extend(&names[definer as usize].weak);
                    pending.push(definer);
                }
            }
        }
    }
}

/// The objects that hold bitcode of which the linker may have made the code.
pub fn soluble_objects(tree: &BuildTree) -> Vec<u32> {
    let is_unmade = |size: u32, linkage: Linkage| size == UNKNOWN_SIZE && linkage != Linkage::Undefined;
    // Most builds have none at all: their lists of common elements are not looked at.
    let is_mixed = |packed: &Packed| packed.pack.symbols.iter().any(|s| is_unmade(s.size, s.linkage));
    let mixed: Vec<bool> = tree.packs.iter().map(is_mixed).collect();
    let is_unmade_common = |common: &Common| {
        let symbols = tree.packs[common.pack as usize].pack.symbols_of(common.element);
        mixed[common.pack as usize] && symbols.iter().any(|symbol| is_unmade(symbol.size, symbol.linkage))
    };
    let has_mixed = mixed.contains(&true);
    let is_soluble = |&object: &u32| {
        let summary = &tree.objects[object as usize].summary;
        summary.symbols.iter().any(|symbol| is_unmade(symbol.size, symbol.linkage))
            || (has_mixed && summary.commons.iter().any(is_unmade_common))
    };
    (0..tree.objects.len() as u32).filter(is_soluble).collect()
}

/// Whether it has code that runs before `main` and may have been evaluated by the linker; tests never are.
fn starts_something(summary: &ObjectSummary) -> bool {
    summary.elements.iter().any(|element| element.traits.has(Traits::INITIALISER))
        && !summary.symbols.iter().any(|symbol| symbol.role == TestRole::Body)
}
