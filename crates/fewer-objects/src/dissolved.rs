//! Objects that link-time optimisation may have dissolved: the linked file need not name anything of them any more.
//! They are found as a linker would, by what the objects that are surely in it ask for.

use crate::image_set::ImageSet;
use crate::name_map::{NameMap, NameSet};
use crate::scan::BuildTree;
use crate::summary::{Linkage, NameKey, ObjectSummary, SymbolSummary, TestRole, Traits, UNKNOWN_SIZE};
use crate::virtual_tables::VirtualName;

/// Adds, per object that was linked as bitcode, the linked files it may be part of without being named there.
pub fn add_dissolved(tree: &BuildTree, members: &mut [ImageSet]) {
    let soluble: Vec<u32> =
        (0..tree.objects.len() as u32).filter(|&object| is_soluble(tree, object as usize)).collect();
    if soluble.is_empty() {
        return;
    }
    let names: Vec<Names> = tree.objects.iter().map(|object| Names::of(tree, &object.summary)).collect();
    let mut definers: NameMap<Vec<u32>> = NameMap::default();
    for &object in &soluble {
        names[object as usize].defined.iter().for_each(|&key| definers.entry(key).or_default().push(object));
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
    let soluble: Vec<usize> = (0..tree.objects.len()).filter(|&object| is_soluble(tree, object)).collect();
    let mut ambiguous = vec![None; tree.images.len()];
    if soluble.is_empty() {
        return ambiguous;
    }
    let mut definers: NameMap<Vec<u32>> = NameMap::default();
    for (object, file) in tree.objects.iter().enumerate() {
        let names = Names::of(tree, &file.summary);
        names.defined.iter().for_each(|&key| definers.entry(key).or_default().push(object as u32));
    }
    for &object in &soluble {
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
struct Names {
    defined: Vec<NameKey>,
    asked: Vec<NameKey>,
}

impl Names {
    fn of(tree: &BuildTree, summary: &ObjectSummary) -> Names {
        let mut names = Names { defined: Vec::new(), asked: Vec::new() };
        for symbol in &summary.symbols {
            match symbol.linkage {
                Linkage::Undefined => names.asked.push(asked(symbol.key, summary.name(symbol.name))),
                Linkage::Weak | Linkage::Strong => names.defined.push(symbol.key),
                Linkage::Local => {}
            }
        }
        for common in &summary.commons {
            let pack = &tree.packs[common.pack as usize].pack;
            let key = |name: u32| pack.names[name as usize].key;
            let asked = |&name: &u32| asked(key(name), pack.name(name));
            names.asked.extend(pack.references_of(common.element).iter().map(asked));
            let defined = pack.symbols_of(common.element).iter();
            let defined = defined.filter(|symbol| matches!(symbol.linkage, Linkage::Weak | Linkage::Strong));
            names.defined.extend(defined.map(|symbol| key(symbol.name)));
        }
        names
    }
}

/// The symbol that a reference asks for.
fn asked(key: NameKey, name: &[u8]) -> NameKey {
    match VirtualName::of(name) {
        Some(VirtualName::Entry { function, .. }) => NameKey::of(function),
        Some(VirtualName::Call(_)) | None => key,
    }
}

/// Adds every object that defines what a member asks for and no member defines.
fn add_needed(
    image: usize,
    mut pending: Vec<u32>,
    names: &[Names],
    definers: &NameMap<Vec<u32>>,
    members: &mut [ImageSet],
) {
    let mut defined: NameSet =
        pending.iter().flat_map(|&object| names[object as usize].defined.iter().copied()).collect();
    while let Some(object) = pending.pop() {
        members[object as usize].insert(image);
        for key in &names[object as usize].asked {
            // What a member defines already asks for no other.
            let definers = definers.get(key).filter(|_| !defined.contains(key));
            for &definer in definers.map_or(&[][..], Vec::as_slice) {
                if !members[definer as usize].contains(image) {
                    members[definer as usize].insert(image);
                    defined.extend(&names[definer as usize].defined);
                    pending.push(definer);
                }
            }
        }
    }
}

/// Whether the object holds bitcode of which the linker may have made the code.
fn is_soluble(tree: &BuildTree, object: usize) -> bool {
    let summary = &tree.objects[object].summary;
    let is_unmade = |size: u32, linkage: Linkage| size == UNKNOWN_SIZE && linkage != Linkage::Undefined;
    summary.symbols.iter().any(|symbol| is_unmade(symbol.size, symbol.linkage))
        || summary.commons.iter().any(|common| {
            let symbols = tree.packs[common.pack as usize].pack.symbols_of(common.element);
            symbols.iter().any(|symbol| is_unmade(symbol.size, symbol.linkage))
        })
}

/// Whether it has code that runs before `main` and may have been evaluated by the linker; tests never are.
fn starts_something(summary: &ObjectSummary) -> bool {
    summary.elements.iter().any(|element| element.traits.has(Traits::INITIALISER))
        && !summary.symbols.iter().any(|symbol| symbol.role == TestRole::Body)
}
