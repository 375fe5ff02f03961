//! Whether an object is really in a linked file, by comparing bytes: asked only where symbols leave it open.
//! Places that the linker fills in, and what it may rewrite around them, are not compared.

use std::ops::Range;
use std::path::Path;

use object::read::archive::ArchiveFile;

use crate::foreign::Layout;
use crate::membership::{Contested, Exclusion};
use crate::relocatable::{Binding, ElfFile, Machine, Place, Relocation};
use crate::scan::{BuildTree, map_file};
use crate::summary::NameKey;

/// The contested objects whose code is not what the linked file holds.
pub fn exclusions(build_directory: &Path, tree: &BuildTree, contested: &[Contested]) -> Vec<Exclusion> {
    contested
        .iter()
        .filter(|contest| is_refuted(build_directory, tree, contest).unwrap_or(false))
        .map(|contest| (tree.objects[contest.object].name.clone(), tree.images[contest.image].name.clone()))
        .collect()
}

/// Whether some contested name has other bytes in the file than in the object. `None` if either cannot be read.
fn is_refuted(build_directory: &Path, tree: &BuildTree, contest: &Contested) -> Option<bool> {
    let image = &tree.images[contest.image];
    let image_bytes = map_file(&build_directory.join(&image.name)).ok()?;
    let layout = Layout::of(&image_bytes)?;
    let (path, member) = match tree.objects[contest.object].name.split_once('(') {
        Some((archive, member)) => (archive, Some(member.strip_suffix(')')?)),
        None => (tree.objects[contest.object].name.as_str(), None),
    };
    let object_file = map_file(&build_directory.join(path)).ok()?;
    let object_bytes = match member {
        Some(member) => member_of(&object_file, member)?,
        None => &object_file[..],
    };
    let object = ElfFile::parse(object_bytes).ok()?;
    for symbol in object.symbols.iter().filter(|symbol| symbol.binding == Binding::Global) {
        let key = NameKey::of(symbol.name);
        let Place::Section(section) = symbol.place else { continue };
        if contest.names.binary_search(&key).is_err() || object.sections[section].is_nobits() {
            continue;
        }
        let range = symbol.value as usize..(symbol.value as usize).checked_add(symbol.size as usize)?;
        let Some(own) = object.sections[section].data.get(range.clone()) else { continue };
        let open = open_places(object.machine, object.relocations(section), &range);
        let is_same = |linked: &[u8]| equal_outside(own, linked, &open);
        let mut there =
            image.summary.symbols_named(key).iter().filter_map(|symbol| layout.body(symbol)).peekable();
        if there.peek().is_some() && !there.any(|(linked, _)| is_same(linked)) {
            return Some(true);
        }
    }
    Some(false)
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
