//! The code that a compiler brings along, such as Rust's standard library: it changes with the compiler only, so it
//! counts as one, by the compiler's own word. What of it is linked into a program says nothing about its tests.

use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use rayon::prelude::*;

use crate::file_bytes::read_file;
use crate::intakes::NamedDigest;
use crate::name_map::NameSet;
use crate::relocatable::{ElfFile, Place};
use crate::summary::NameKey;

#[derive(Clone, Debug)]
pub struct Toolchain {
    pub identity: NamedDigest,
    /// Of everything it defines.
    names: NameSet,
}

impl Toolchain {
    /// What the archives of a compiler define. One that cannot be read explains nothing.
    pub fn read(identity: NamedDigest, archives: &[PathBuf]) -> Toolchain {
        let names: Vec<Vec<NameKey>> =
            archives.par_iter().map(|path| defined_names(path).unwrap_or_default()).collect();
        Toolchain { identity, names: names.into_iter().flatten().collect() }
    }

    pub fn defines(&self, name: NameKey) -> bool {
        self.names.contains(&name)
    }
}

fn defined_names(path: &Path) -> Option<Vec<NameKey>> {
    let bytes = read_file(path).ok()?;
    let archive = ArchiveFile::parse(&bytes[..]).ok()?;
    let mut names = Vec::new();
    for member in archive.members().flatten() {
        let (start, size) = member.file_range();
        let Some(object) = bytes.get(start as usize..start.checked_add(size)? as usize) else { continue };
        let Ok(file) = ElfFile::parse(object) else { continue };
        let is_defined = |place| matches!(place, Place::Section(_) | Place::Common);
        let defined = file.symbols.iter().filter(|symbol| is_defined(symbol.place));
        names.extend(defined.map(|symbol| NameKey::of(symbol.name)));
    }
    Some(names)
}
