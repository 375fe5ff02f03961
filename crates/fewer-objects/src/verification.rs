//! Whether an object is really in a linked file, by comparing bytes: asked only where symbols leave it open.
//! Places that the linker fills in, and what it may rewrite around them, are not compared.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;
use object::read::archive::ArchiveFile;

use crate::foreign::Layout;
use crate::membership::{Contested, Exclusion};
use crate::relocatable::{Binding, ElfFile, Machine, Place, Relocation, Symbol};
use crate::scan::{BuildTree, map_file};
use crate::summary::NameKey;

/// The contested objects whose code is not what the linked file holds. Every file is mapped and parsed once,
/// however many contests it is in.
pub fn exclusions(build_directory: &Path, tree: &BuildTree, contested: &[Contested]) -> Vec<Exclusion> {
    let mut images: BTreeMap<usize, Option<Mmap>> = BTreeMap::new();
    for contest in contested {
        let path = || build_directory.join(&tree.images[contest.image].name);
        images.entry(contest.image).or_insert_with(|| map_file(&path()).ok());
    }
    let layouts: BTreeMap<usize, Layout<'_>> =
        images.iter().filter_map(|(image, bytes)| Some((*image, Layout::of(bytes.as_deref()?)?))).collect();
    contested
        .chunk_by(|a, b| a.object == b.object)
        .flat_map(|contests| refuted(build_directory, tree, contests, &layouts).unwrap_or_default())
        .map(|contest| (tree.objects[contest.object].name.clone(), tree.images[contest.image].name.clone()))
        .collect()
}

/// Those of one object's contests that it loses. `None` if the object cannot be read.
fn refuted<'c>(
    build_directory: &Path,
    tree: &BuildTree,
    contests: &'c [Contested],
    layouts: &BTreeMap<usize, Layout<'_>>,
) -> Option<Vec<&'c Contested>> {
    let name = &tree.objects[contests.first()?.object].name;
    let (path, member) = match name.split_once('(') {
        Some((archive, member)) => (archive, Some(member.strip_suffix(')')?)),
        None => (name.as_str(), None),
    };
    let object_file = map_file(&build_directory.join(path)).ok()?;
    let object_bytes = match member {
        Some(member) => member_of(&object_file, member)?,
        None => &object_file[..],
    };
    let object = ElfFile::parse(object_bytes).ok()?;
    let bodies = strong_bodies(&object);
    let is_lost = |contest: &&Contested| {
        let Some(layout) = layouts.get(&contest.image) else { return false };
        bodies.iter().any(|body| {
            let symbols = tree.images[contest.image].summary.symbols_named(body.key);
            let mut there = symbols.iter().filter_map(|symbol| layout.body(symbol)).peekable();
            contest.names.binary_search(&body.key).is_ok()
                && there.peek().is_some()
                && !there.any(|(linked, _)| equal_outside(body.bytes, linked, &body.open))
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

fn strong_bodies<'d>(object: &ElfFile<'d>) -> Vec<Body<'d>> {
    let body = |symbol: &Symbol<'d>| {
        let Place::Section(section) = symbol.place else { return None };
        if symbol.binding != Binding::Global || object.sections[section].is_nobits() {
            return None;
        }
        let start = usize::try_from(symbol.value).ok()?;
        let range = start..start.checked_add(usize::try_from(symbol.size).ok()?)?;
        let bytes = object.sections[section].data.get(range.clone())?;
        let open = open_places(object.machine, object.relocations(section), &range);
        Some(Body { key: NameKey::of(symbol.name), bytes, open })
    };
    object.symbols.iter().filter_map(body).collect()
}

fn member_of<'d>(archive: &'d [u8], wanted: &str) -> Option<&'d [u8]> {
    let file = ArchiveFile::parse(archive).ok()?;
    let member = file.members().flatten().find(|member| member.name() == wanted.as_bytes())?;
    let (start, size) = member.file_range();
    archive.get(start as usize..start.checked_add(size)? as usize)
}

/// What the linker may change: the fields themselves, and on x86-64 the instruction around them.
fn open_places(machine: Machine, relocations: &[Relocation], range: &Range<usize>) -> Vec<Range<usize>> {
    let (before, after) = match machine {
        Machine::X86_64 => (8, 16),
        Machine::Aarch64 => (0, 8),
    };
    relocations
        .iter()
        .map(|relocation| relocation.offset as usize)
        .filter(|offset| *offset + after > range.start && *offset < range.end + before)
        .map(|offset| {
            offset.saturating_sub(range.start + before)..(offset + after).saturating_sub(range.start)
        })
        .collect()
}

fn equal_outside(own: &[u8], linked: &[u8], open: &[Range<usize>]) -> bool {
    own.len() == linked.len()
        && own
            .iter()
            .zip(linked)
            .enumerate()
            .all(|(at, (a, b))| a == b || open.iter().any(|range| range.contains(&at)))
}
