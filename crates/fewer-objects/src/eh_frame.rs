//! Unwinding information: which function each frame description belongs to, its rules and what it refers to
//! (personality, exception table). Only the structure is read, not the rules.

use std::collections::HashMap;

use crate::relocatable::Relocation;

/// The unwinding information of one function.
pub struct Frame<'d> {
    /// The relocation that names the function.
    pub function: Relocation,
    /// The function's own rules, without padding.
    pub rules: &'d [u8],
    /// The rules shared through the common entry.
    pub common_rules: &'d [u8],
    /// Personality and exception table, with their place.
    pub references: Vec<(u64, Relocation)>,
}

/// A record of the section.
struct Record<'d> {
    start: usize,
    /// Distance back to the common entry; 0 for a common entry itself.
    back: u32,
    body: &'d [u8],
    relocations: std::ops::Range<usize>,
}

/// All frames of a section whose relocations are sorted by offset. Damaged parts end the list.
pub fn frames<'d>(data: &'d [u8], relocations: &[Relocation]) -> Vec<Frame<'d>> {
    let records = records(data, relocations);
    let common: HashMap<usize, usize> = records
        .iter()
        .enumerate()
        .filter(|(_, record)| record.back == 0)
        .map(|(i, record)| (record.start, i))
        .collect();
    let mut frames = Vec::new();
    for record in records.iter().filter(|record| record.back != 0) {
        let Some((function, own)) = relocations[record.relocations.clone()].split_first() else { continue };
        let place = |relocation: &Relocation, record: &Record<'_>| relocation.offset - record.start as u64;
        let mut references: Vec<(u64, Relocation)> =
            own.iter().map(|relocation| (place(relocation, record), *relocation)).collect();
        let mut common_rules: &[u8] = b"";
        let parent =
            (record.start + 4).checked_sub(record.back as usize).and_then(|start| common.get(&start));
        if let Some(&parent) = parent {
            let parent = &records[parent];
            common_rules = without_padding(parent.body);
            let shared = &relocations[parent.relocations.clone()];
            references.extend(shared.iter().map(|relocation| (place(relocation, parent), *relocation)));
        }
        frames.push(Frame {
            function: *function,
            rules: without_padding(record.body),
            common_rules,
            references,
        });
    }
    frames
}

fn records<'d>(data: &'d [u8], relocations: &[Relocation]) -> Vec<Record<'d>> {
    let word = |at: usize| {
        data.get(at..at + 4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let mut records = Vec::new();
    let mut start = 0;
    let mut next = 0;
    while let Some(length) = word(start) {
        // 0 ends the section in a linked file; 0xffffffff is the 64-bit form, which compilers do not write.
        if length == 0 {
            start += 4;
            continue;
        }
        let end = start + 4 + length as usize;
        let (Some(back), Some(body)) = (word(start + 4), data.get(start + 8..end)) else { break };
        let first = next;
        while relocations.get(next).is_some_and(|relocation| relocation.offset < end as u64) {
            next += 1;
        }
        records.push(Record { start, back, body, relocations: first..next });
        start = end;
    }
    records
}

/// DW_CFA_nop is 0.
fn without_padding(body: &[u8]) -> &[u8] {
    let end = body.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &body[..end]
}
