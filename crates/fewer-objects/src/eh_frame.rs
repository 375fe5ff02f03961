//! Unwinding information: which function each frame description belongs to, its rules and what it refers to
//! (personality, exception table). Only the structure is read, not the rules.

use crate::relocatable::{Relocation, RelocationFields};

/// The unwinding information of one function.
pub struct Frame<'d> {
    /// The relocation that names the function.
    pub function: Relocation,
    /// The function's own rules, without padding.
    pub rules: &'d [u8],
    /// The rules shared through the common entry.
    pub common_rules: &'d [u8],
    own: Part<'d>,
    shared: Part<'d>,
}

impl<'d> Frame<'d> {
    /// Personality and exception table, with their place.
    pub fn references(&self) -> impl Iterator<Item = (u64, &'d Relocation)> + use<'d> {
        self.own.references().chain(self.shared.references())
    }
}

/// Some of a section's relocations, whose places count from `start`.
#[derive(Clone, Copy, Default)]
struct Part<'d> {
    start: u64,
    relocations: &'d [Relocation],
}

impl<'d> Part<'d> {
    fn references(self) -> impl Iterator<Item = (u64, &'d Relocation)> {
        self.relocations
            .iter()
            .map(move |relocation| (relocation.offset().wrapping_sub(self.start), relocation))
    }
}

/// A record of the section.
#[derive(Clone, Copy)]
struct Record<'d> {
    start: usize,
    /// Distance back to the common entry; 0 for a common entry itself.
    back: u32,
    body: &'d [u8],
    relocations: &'d [Relocation],
}

impl<'d> Record<'d> {
    fn part(&self, relocations: &'d [Relocation]) -> Part<'d> {
        Part { start: self.start as u64, relocations }
    }
}

/// All frames of a section whose relocations are sorted by offset. Damaged parts end the list.
pub fn frames<'d>(data: &'d [u8], relocations: &'d [Relocation]) -> impl Iterator<Item = Frame<'d>> {
    // A common entry lies before the frames that refer to it.
    let mut common: Vec<Record<'d>> = Vec::new();
    Records { data, relocations, start: 0 }.filter_map(move |record| {
        if record.back == 0 {
            common.push(record);
            return None;
        }
        let (function, own) = record.relocations.split_first()?;
        let parent = (record.start + 4).checked_sub(record.back as usize).and_then(|start| {
            common.binary_search_by_key(&start, |common| common.start).ok().map(|index| common[index])
        });
        Some(Frame {
            function: *function,
            rules: without_padding(record.body),
            common_rules: parent.map_or(b"", |parent| without_padding(parent.body)),
            own: record.part(own),
            shared: parent.map_or_else(Part::default, |parent| parent.part(parent.relocations)),
        })
    })
}

/// The records one after the other, each with its part of the relocations that are left.
struct Records<'d> {
    data: &'d [u8],
    relocations: &'d [Relocation],
    start: usize,
}

impl<'d> Records<'d> {
    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.data.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

impl<'d> Iterator for Records<'d> {
    type Item = Record<'d>;

    fn next(&mut self) -> Option<Record<'d>> {
        let mut start = self.start;
        // 0 ends the section in a linked file; 0xffffffff is the 64-bit form, which compilers do not write.
        let length = loop {
            match self.word(start)? {
                0 => start += 4,
                length => break length as usize,
            }
        };
        let end = start + 4 + length;
        let (back, body) = (self.word(start + 4)?, self.data.get(start + 8..end)?);
        let count = self.relocations.iter().take_while(|relocation| relocation.offset() < end as u64).count();
        let (relocations, rest) = self.relocations.split_at(count);
        self.relocations = rest;
        self.start = end;
        Some(Record { start, back, body, relocations })
    }
}

/// DW_CFA_nop is 0.
fn without_padding(body: &[u8]) -> &[u8] {
    let end = body.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &body[..end]
}
