//! The closure of every element that other objects may hold a copy of: what makes two copies one.

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::summary::{ObjectSummary, Reference, Traits};

const CLOSURE: Domain = Domain::new("bitcode.closure");

/// How deep private elements may lead to each other: a guard against crafted files.
const MOST_NESTED: u32 = 32;

/// Fills in the closures of a summary's shared elements; see [`crate::summary::ElementSummary::closure`].
pub fn add_closures(summary: &mut ObjectSummary) {
    let mut known: Vec<Closure> = vec![Closure::Unknown; summary.elements.len()];
    for element in 0..summary.elements.len() as u32 {
        let traits = summary.elements[element as usize].traits;
        if traits.has(Traits::SHARED) && !traits.has(Traits::PRIVATE) {
            summary.elements[element as usize].closure = closure(summary, element, &mut known, 0);
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

fn closure(summary: &ObjectSummary, element: u32, known: &mut [Closure], depth: u32) -> Option<Digest> {
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
    for reference in summary.references_of(element) {
        match *reference {
            Reference::Element(target) if target == element => {}
            Reference::Element(target) => {
                if summary.elements[target as usize].traits.has(Traits::WRITABLE) {
                    return None;
                }
                parts.push(closure(summary, target, known, depth + 1)?);
            }
            Reference::Symbol(_) | Reference::Common(_) => {}
        }
    }
    let digest = DigestBuilder::new(CLOSURE).digest(own.content).set(&mut parts).finish();
    known[element as usize] = Closure::Some(digest);
    Some(digest)
}
