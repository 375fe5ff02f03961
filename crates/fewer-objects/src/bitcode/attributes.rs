//! The attribute lists of a module by content, whatever their numbers.

use std::collections::HashMap;

use fewer_core::{Digest, DigestBuilder, Domain};

use super::Unreadable;
use super::bitstream::{Abbreviations, Block, Record};
use super::types::Types;

const ATTRIBUTES: Domain = Domain::new("bitcode.attributes");

const LIST: u32 = 2;
const GROUP: u32 = 3;

/// Groups as they were read: types come later in the stream.
#[derive(Default)]
pub struct AttributeTables {
    groups: Vec<Vec<u64>>,
    lists: Vec<Vec<u64>>,
}

/// Digests by the number that functions and calls use; 0 is no attributes.
#[derive(Default)]
pub struct Attributes(Vec<Digest>);

impl AttributeTables {
    pub fn read<'d>(
        &mut self,
        mut block: Block<'d>,
        known: &mut Abbreviations,
        record: &mut Record<'d>,
    ) -> Result<(), Unreadable> {
        while block.next_record(known, record)? {
            match record.code {
                LIST => self.lists.push(record.operands.clone()),
                GROUP => self.groups.push(record.operands.clone()),
                code => return Err(Unreadable::Unknown(format!("attribute record {code}"))),
            }
        }
        Ok(())
    }

    pub fn resolve(&self, types: &Types) -> Result<Attributes, Unreadable> {
        let mut groups: HashMap<u64, Digest> = HashMap::new();
        for group in &self.groups {
            let [number, place, attributes @ ..] = group.as_slice() else { return Err(Unreadable::RECORD) };
            groups.insert(*number, group_digest(*place, attributes, types)?);
        }
        let mut digests = vec![Digest::default()];
        for list in &self.lists {
            let mut digest = DigestBuilder::new(ATTRIBUTES);
            for group in list {
                digest.digest(*groups.get(group).ok_or(Unreadable::RECORD)?);
            }
            digests.push(digest.finish());
        }
        Ok(Attributes(digests))
    }
}

impl Attributes {
    pub fn digest(&self, number: u64) -> Result<Digest, Unreadable> {
        usize::try_from(number).ok().and_then(|number| self.0.get(number).copied()).ok_or(Unreadable::RECORD)
    }
}

/// The attributes of one parameter, of the result or of the function.
fn group_digest(place: u64, attributes: &[u64], types: &Types) -> Result<Digest, Unreadable> {
    let mut digest = DigestBuilder::new(ATTRIBUTES);
    digest.number(place);
    let mut rest = attributes.iter().copied();
    let mut next = |digest: &mut DigestBuilder| {
        let value = rest.next().ok_or(Unreadable::RECORD)?;
        digest.number(value);
        Ok::<u64, Unreadable>(value)
    };
    let mut scratch = DigestBuilder::new(ATTRIBUTES);
    while let Ok(kind) = next(&mut scratch) {
        digest.number(kind);
        match kind {
            // An attribute by number, alone or with a value.
            0 | 5 => drop(next(&mut digest)?),
            1 => {
                next(&mut digest)?;
                next(&mut digest)?;
            }
            // By name, alone or with a text.
            3 | 4 => {
                for _ in 3..=kind {
                    while next(&mut digest)? != 0 {}
                }
            }
            // With a type.
            6 => {
                next(&mut digest)?;
                let id = next(&mut scratch)?;
                digest.digest(types.digest(id)?);
            }
            // With a range of numbers.
            7 => {
                next(&mut digest)?;
                let bits = next(&mut digest)?;
                range(bits, || next(&mut digest))?;
            }
            8 => {
                next(&mut digest)?;
                let count = next(&mut digest)?;
                let bits = next(&mut digest)?;
                for _ in 0..count {
                    range(bits, || next(&mut digest))?;
                }
            }
            kind => return Err(Unreadable::Unknown(format!("attribute kind {kind}"))),
        }
    }
    Ok(digest.finish())
}

/// The words of a lower and an upper bound.
fn range(bits: u64, mut next: impl FnMut() -> Result<u64, Unreadable>) -> Result<(), Unreadable> {
    let words = if bits > 64 {
        let counts = next()?;
        (counts & 0xffff_ffff).saturating_add(counts >> 32)
    } else {
        2
    };
    for _ in 0..words {
        next()?;
    }
    Ok(())
}
