//! Whether objects carry the project's own path (from `__FILE__`) in what is loaded at run time: they then differ
//! from checkout to checkout. Debug information is not looked at.

use std::path::Path;

use fewer_objects::BuildTree;
use fewer_objects::file_bytes::read_file;
use rayon::prelude::*;

/// Part of the loaded program, in a section header's flags.
const SHF_ALLOC: u64 = 2;
/// A section without bytes in the file.
const SHT_NOBITS: u32 = 8;

/// The objects with the directory's path in them, sorted. Members of archives are not opened.
pub fn objects_with_path(build_directory: &Path, tree: &BuildTree, directory: &Path) -> Vec<String> {
    let needle = directory.as_os_str().as_encoded_bytes();
    let mut names: Vec<String> = tree
        .objects
        .par_iter()
        .filter(|object| {
            let Ok(map) = read_file(&build_directory.join(&object.name)) else { return false };
            loaded_sections(&map).iter().any(|section| contains(section, needle))
        })
        .map(|object| object.name.clone())
        .collect();
    names.sort();
    names
}

/// The bytes of the sections that are loaded; nothing for what is no 64-bit little-endian ELF file.
fn loaded_sections(file: &[u8]) -> Vec<&[u8]> {
    let is_readable = file.starts_with(b"\x7fELF\x02\x01");
    let table = number(file, 0x28, 8).filter(|_| is_readable);
    let (Some(table), Some(size), Some(count)) = (table, number(file, 0x3a, 2), number(file, 0x3c, 2)) else {
        return Vec::new();
    };
    (0..count)
        .filter_map(|index| {
            let header = usize::try_from(table.checked_add(index * size)?).ok()?;
            let kind = number(file, header.checked_add(4)?, 4)?;
            let flags = number(file, header.checked_add(8)?, 8)?;
            if flags & SHF_ALLOC == 0 || kind == u64::from(SHT_NOBITS) {
                return None;
            }
            let start = usize::try_from(number(file, header.checked_add(0x18)?, 8)?).ok()?;
            let length = usize::try_from(number(file, header.checked_add(0x20)?, 8)?).ok()?;
            file.get(start..start.checked_add(length)?)
        })
        .collect()
}

fn number(file: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let mut wide = [0u8; 8];
    wide[..bytes].copy_from_slice(file.get(at..at.checked_add(bytes)?)?);
    Some(u64::from_le_bytes(wide))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    let Some(&first) = part.first() else { return false };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        if rest[at..].starts_with(part) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}
