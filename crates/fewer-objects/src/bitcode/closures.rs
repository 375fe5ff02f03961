//! The closure of every element that other objects may hold a copy of: what makes two copies one.

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::summary::{NO_ELEMENT, ObjectSummary, Reference, Traits};

const CLOSURE: Domain = Domain::new("bitcode.closure");

/// How deep private elements may lead to each other: a guard against crafted files.
const MOST_NESTED: u32 = 32;

/// Fills in the closures of a summary's shared elements; see [`crate::summary::ElementSummary::closure`]. They cover
/// what is kept of an element besides its content: the names it leads to, as those in a virtual table's entries are no part
/// of the content, and the sizes of its symbols, as a compiler that inlines makes different code of equal bitcode.
pub fn add_closures(summary: &mut ObjectSummary) {
    let mut sizes: Vec<Vec<u32>> = vec![Vec::new(); summary.elements.len()];
    for symbol in summary.symbols.iter().filter(|symbol| symbol.element != NO_ELEMENT) {
        sizes[symbol.element as usize].push(symbol.size);
    }
    sizes.iter_mut().for_each(|sizes| sizes.sort_unstable());
    let mut known: Vec<Closure> = vec![Closure::Unknown; summary.elements.len()];
    for element in 0..summary.elements.len() as u32 {
        let traits = summary.elements[element as usize].traits;
        if traits.has(Traits::SHARED) && !traits.has(Traits::PRIVATE) {
            summary.elements[element as usize].closure = closure(summary, &sizes, element, &mut known, 0);
        }
    }
}

#[derive(Clone, Copy)]
enum Closure {
    Unknown,
    /// It leads back to itself, to data that can change, or too far.
    None,
    Some(Digest),
}

fn closure(
    summary: &ObjectSummary,
    sizes: &[Vec<u32>],
    element: u32,
    known: &mut [Closure],
    depth: u32,
) -> Option<Digest> {
    match known[element as usize] {
        Closure::Some(digest) => return Some(digest),
        Closure::None => return None,
        // Met again while it is being computed, it is part of a cycle.
        Closure::Unknown => known[element as usize] = Closure::None,
    }
    let own = &summary.elements[element as usize];
    if depth > MOST_NESTED || own.traits.has(Traits::INITIALISER) {
        return None;
    }
    let mut parts = Vec::new();
    let mut names = Vec::new();
    for reference in summary.references_of(element) {
        match *reference {
            Reference::Element(target) if target == element => {}
            Reference::Element(target) => {
                if summary.elements[target as usize].traits.has(Traits::WRITABLE) {
                    return None;
                }
                parts.push(closure(summary, sizes, target, known, depth + 1)?);
            }
            Reference::Symbol(symbol) => names.push(summary.symbols[symbol as usize].key.0),
            Reference::Common(_) => {}
        }
    }
    let mut digest = DigestBuilder::new(CLOSURE);
    digest.digest(own.content).set(&mut parts);
    names.sort_unstable();
    names.dedup();
    names.iter().for_each(|&name| _ = digest.number(name));
    sizes[element as usize].iter().for_each(|&size| _ = digest.number(size.into()));
    let digest = digest.finish();
    known[element as usize] = Closure::Some(digest);
    Some(digest)
}
