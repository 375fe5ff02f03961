//! Bitcode inside an object file: in `.llvmbc` (`-fembed-bitcode`) beside the code that was made of it, or in
//! `.llvm.lto` (`-ffat-lto-objects`) for a linker that optimises. Where it tells all that the object holds, it is
//! read instead of the code.

use std::collections::HashMap;

use super::closures::add_closures;
use super::{is_bitcode, read_modules};
use crate::relocatable::{Binding, ElfFile, Place, STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, STT_TLS};
use crate::summary::{Linkage, NO_ELEMENT, NameKey, ObjectSummary};

const FOR_LINKERS: &[u8; 9] = b".llvm.lto";
const BESIDE_CODE: &[u8; 7] = b".llvmbc";

/// Reads the bitcode of an object. `None` if there is none, or if it is not all: parts that were linked together, of
/// which some had none.
pub fn read_embedded(file: &ElfFile<'_>) -> Option<ObjectSummary> {
    let (section, is_beside_code) = match file.section_named(FOR_LINKERS) {
        Some(section) => (section, false),
        None => (file.section_named(BESIDE_CODE)?, true),
    };
    if !is_bitcode(section.data) {
        return None;
    }
    let mut summary = read_modules(section.data).ok()?;
    if summary.is_opaque() || !defines_all(&summary, file) {
        return None;
    }
    // A linker that optimises makes other code, of another size.
    if is_beside_code {
        add_sizes(&mut summary, file);
    }
    add_closures(&mut summary);
    Some(summary)
}

/// Whether every name that the object gives to others is one of the bitcode's.
fn defines_all(summary: &ObjectSummary, file: &ElfFile<'_>) -> bool {
    let known: HashMap<NameKey, ()> = summary
        .symbols
        .iter()
        .filter(|symbol| symbol.element != NO_ELEMENT)
        .map(|symbol| (symbol.key, ()))
        .collect();
    let is_given = |symbol: &&crate::relocatable::Symbol<'_>| {
        symbol.binding != Binding::Local
            && matches!(symbol.place, Place::Section(_) | Place::Common)
            && matches!(symbol.kind, STT_FUNC | STT_OBJECT | STT_TLS | STT_GNU_IFUNC)
            // The compiler makes references to personalities itself.
            && !symbol.name.starts_with(b"DW.ref.")
    };
    file.symbols.iter().filter(is_given).all(|symbol| known.contains_key(&NameKey::of(symbol.name)))
}

/// The sizes that symbols have in the code made of the bitcode.
fn add_sizes(summary: &mut ObjectSummary, file: &ElfFile<'_>) {
    let sizes: HashMap<NameKey, u32> = file
        .symbols
        .iter()
        .filter(|symbol| matches!(symbol.place, Place::Section(_) | Place::Common) && !symbol.name.is_empty())
        .map(|symbol| (NameKey::of(symbol.name), u32::try_from(symbol.size).unwrap_or(u32::MAX)))
        .collect();
    for symbol in summary.symbols.iter_mut().filter(|symbol| symbol.linkage != Linkage::Undefined) {
        // What was dropped for lack of uses has none.
        symbol.size = sizes.get(&symbol.key).copied().unwrap_or(0);
    }
}
