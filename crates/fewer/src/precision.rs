//! How finely the objects of a build can be told apart, and which flags would make it finer, with what those bring and
//! cost as `cargo bench -p fewer-bench -- --only flags` measured it. What else is amiss with a build is told elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fewer_objects::BuildTree;
use fewer_objects::scan::Scanned;
use fewer_objects::summary::{NO_ELEMENT, ObjectSummary, Traits};
use serde::Serialize;

/// How many objects are read how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Levels {
    /// From bitcode, by function and variable.
    pub bitcode: usize,
    /// From machine code with a section per function and variable.
    pub sections: usize,
    /// From machine code with several functions or variables in one section.
    pub shared_sections: usize,
    pub unreadable: usize,
}

impl Levels {
    pub fn of(tree: &BuildTree) -> Levels {
        let mut levels = Levels::default();
        for object in &tree.objects {
            if object.summary.is_opaque() {
                levels.unreadable += 1;
            } else if is_bitcode(object) {
                levels.bitcode += 1;
            } else if is_coarse(object) {
                levels.shared_sections += 1;
            } else {
                levels.sections += 1;
            }
        }
        levels
    }

    /// Example: `20 objects by function (a section each), 2 as whole files`.
    pub fn line(&self) -> String {
        let parts: Vec<String> = [
            (self.bitcode, "by function (bitcode)"),
            (self.sections, "by function (a section each)"),
            (self.shared_sections, "by section, with several functions in one"),
            (self.unreadable, "as whole files"),
        ]
        .into_iter()
        .filter(|(objects, _)| *objects > 0)
        .map(|(objects, how)| format!("{objects} {how}"))
        .collect();
        if parts.is_empty() { "no objects".to_string() } else { parts.join(", ") }
    }
}

/// Which build system made a build directory: the one whose words a fix is told in. `None` if it cannot be told.
pub fn build_system(root: &Path, build_directory: &Path) -> Option<&'static str> {
    if build_directory.join("CMakeCache.txt").exists() {
        Some("CMake")
    } else if build_directory.join("config.status").exists() {
        Some("AutoMake")
    } else if ["GNUmakefile", "makefile", "Makefile"].iter().any(|name| root.join(name).exists()) {
        Some("Make")
    } else {
        None
    }
}

/// Whether the object was read from bitcode, which alone tells of calls through virtual tables.
fn is_bitcode(object: &Scanned<ObjectSummary>) -> bool {
    object.summary.elements.iter().any(|element| element.traits.has(Traits::TRACED))
}

/// Whether one section holds several named things. Constructors come in variants under several names, and a
/// function shares its section with the thunks that lead to it.
pub fn is_coarse(object: &Scanned<ObjectSummary>) -> bool {
    let summary = &object.summary;
    let mut names: BTreeMap<u32, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for symbol in summary.symbols.iter().filter(|symbol| symbol.element != NO_ELEMENT && symbol.size > 0) {
        let name = summary.name(symbol.name);
        let is_thunk = [&b"_ZTh"[..], b"_ZTv", b"_ZTc"].iter().any(|thunk| name.starts_with(thunk));
        if !name.starts_with(b".L") && !is_thunk {
            names.entry(symbol.element).or_default().insert(without_variant(name));
        }
    }
    names.values().any(|names| names.len() > 1)
}

/// `C1`, `C2`, `D0`..., and `CI1`, `CI2` for inherited constructors, with the number masked.
fn without_variant(name: &[u8]) -> Vec<u8> {
    let mut name = name.to_vec();
    for at in 1..name.len() {
        let is_variant = matches!(name[at - 1], b'C' | b'D') || name[..at].ends_with(b"CI");
        if is_variant && name[at].is_ascii_digit() {
            name[at] = b'_';
        }
    }
    name
}
