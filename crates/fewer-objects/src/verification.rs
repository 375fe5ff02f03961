//! Whether an object is really in a linked file, by comparing bytes: asked only where symbols leave it open.
//! Places that the linker fills in, and what it may rewrite around them, are not compared.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use object::read::archive::ArchiveFile;

use crate::file_bytes::{FileBytes, SHT_DIGEST, read_file};
use crate::image::ImageSymbol;
use crate::layout::Layout;
use crate::membership::{Contested, Exclusion};
use crate::name_map::{NameMap, NameSet};
use crate::relocatable::{Binding, ElfFile, Machine, Place, Relocation, RelocationFields, Symbol};
use crate::scan::{BuildTree, lasting_name};
use crate::summary::NameKey;

/// The contested objects whose code is not what the linked file holds. Every file is read and parsed once,
/// however many contests it is in.
pub fn exclusions(build_directory: &Path, tree: &BuildTree, contested: &[Contested]) -> Vec<Exclusion> {
    let mut wanted: BTreeMap<usize, NameSet> = BTreeMap::new();
    for contest in contested {
        wanted.entry(contest.image).or_default().extend(&contest.names);
    }
    let read = |image: usize| read_file(&tree.path_of(build_directory, &tree.images[image].name)).ok();
    let files: Vec<(usize, NameSet, FileBytes)> =
        wanted.into_iter().filter_map(|(image, names)| Some((image, names, read(image)?))).collect();
    let opened: BTreeMap<usize, Opened<'_>> = files
        .iter()
        .filter_map(|(image, names, bytes)| {
            let layout = Layout::of(bytes)?;
            let mut symbols: NameMap<Vec<ImageSymbol>> = NameMap::default();
            for symbol in
                tree.images[*image].summary.symbols.iter().filter(|symbol| names.contains(&symbol.key))
            {
                symbols.entry(symbol.key).or_default().push(*symbol);
            }
            Some((*image, Opened { layout, symbols }))
        })
        .collect();
    contested
        .chunk_by(|a, b| a.object == b.object)
        .flat_map(|contests| refuted(build_directory, tree, contests, &opened).unwrap_or_default())
        .map(|contest| Exclusion { object: contest.object, image: contest.image })
        .collect()
}

/// A linked file with the symbols that are asked for.
struct Opened<'d> {
    layout: Layout<'d>,
    symbols: NameMap<Vec<ImageSymbol>>,
}

/// Those of one object's contests that it loses. `None` if the object cannot be read.
fn refuted<'c>(
    build_directory: &Path,
    tree: &BuildTree,
    contests: &'c [Contested],
    opened: &BTreeMap<usize, Opened<'_>>,
) -> Option<Vec<&'c Contested>> {
    let name = &tree.objects[contests.first()?.object].name;
    let (path, member) = match name.split_once('(') {
        Some((archive, member)) => (archive, Some(member.strip_suffix(')')?)),
        None => (name.as_str(), None),
    };
    let object_file = read_file(&tree.path_of(build_directory, path)).ok()?;
    let object_bytes = match member {
        Some(member) => member_of(&object_file, member)?,
        None => &object_file[..],
    };
    let object = ElfFile::parse(object_bytes).ok()?;
    let names: NameSet = contests.iter().flat_map(|contest| contest.names.iter().copied()).collect();
    let bodies = strong_bodies(&object, &names);
    let is_lost = |contest: &&Contested| {
        let Some(Opened { layout, symbols }) = opened.get(&contest.image) else { return false };
        bodies.iter().filter(|body| contest.names.binary_search(&body.key).is_ok()).any(|body| {
            let symbols = symbols.get(&body.key).map_or(&[][..], Vec::as_slice);
            let mut there = symbols
                .iter()
                .filter_map(|symbol| layout.body(layout.place(symbol)?, symbol.size))
                .peekable();
            there.peek().is_some() && !there.any(|linked| equal_outside(body.bytes, linked.bytes, &body.open))
        })
    };
    Some(contests.iter().filter(is_lost).collect())
}

/// A strong definition of an object, and the places in it that the linker may change.
struct Body<'d> {
    key: NameKey,
    bytes: &'d [u8],
    open: Vec<Range<usize>>,
}

/// The bodies of those strong definitions that are asked for.
fn strong_bodies<'d>(object: &ElfFile<'d>, names: &NameSet) -> Vec<Body<'d>> {
    let body = |symbol: &Symbol<'d>| {
        let Place::Section(section) = symbol.place else { return None };
        let is_there = !object.sections[section].is_nobits() && object.sections[section].kind != SHT_DIGEST;
        if symbol.binding != Binding::Global || !is_there {
            return None;
        }
        let key = Some(NameKey::of(symbol.name)).filter(|key| names.contains(key))?;
        let start = usize::try_from(symbol.value).ok()?;
        let range = start..start.checked_add(usize::try_from(symbol.size).ok()?)?;
        let bytes = object.sections[section].data.get(range.clone())?;
        let open = open_places(object.machine, object.relocations(section), &range);
        Some(Body { key, bytes, open })
    };
    object.symbols.iter().filter_map(body).collect()
}

fn member_of<'d>(archive: &'d [u8], wanted: &str) -> Option<&'d [u8]> {
    let file = ArchiveFile::parse(archive).ok()?;
    let is_wanted = |name: &[u8]| lasting_name(&String::from_utf8_lossy(name)) == wanted;
    let member = file.members().flatten().find(|member| is_wanted(member.name()))?;
    let (start, size) = member.file_range();
    archive.get(start as usize..start.checked_add(size)? as usize)
}

/// What the linker may change: the fields themselves, and on x86-64 the instruction around them.
fn open_places(machine: Machine, relocations: &[Relocation], range: &Range<usize>) -> Vec<Range<usize>> {
    let (before, after) = match machine {
        Machine::X86_64 => (8, 16),
        Machine::Aarch64 => (0, 8),
    };
    let is_before =
        |relocation: &Relocation| (relocation.offset() as usize).saturating_add(after) <= range.start;
    let first = relocations.partition_point(is_before);
    relocations[first..]
        .iter()
        .map(|relocation| relocation.offset() as usize)
        .take_while(|offset| *offset < range.end.saturating_add(before))
        .map(|offset| offset.saturating_sub(range.start + before)..offset.saturating_add(after) - range.start)
        .collect()
}

/// Whether some bytes are the same but for these places, which are sorted and may overlap.
fn equal_outside(own: &[u8], linked: &[u8], open: &[Range<usize>]) -> bool {
    let mut compared = 0;
    let equal = |part: Range<usize>| own[part.clone()] == linked[part];
    own.len() == linked.len()
        && open.iter().all(|place| {
            let start = place.start.min(own.len());
            let is_equal = compared >= start || equal(compared..start);
            compared = compared.max(place.end.min(own.len()));
            is_equal
        })
        && equal(compared..own.len())
}
