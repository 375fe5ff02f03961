//! Metadata as far as it can change what code does: nodes, texts and values, hashed by content. All that is for
//! debuggers is dropped here.

use std::collections::HashMap;

use fewer_core::{Digest, DigestBuilder, Domain};

use super::Unreadable;
use super::bitstream::{Abbreviations, Block, Cursor, Record};
use super::draft::Draft;
use super::module::Module;

const METADATA: Domain = Domain::new("bitcode.metadata");

/// How deep nodes may nest before only their kind counts.
const MOST_NESTED: u32 = 64;

const VALUE: u32 = 2;
const NODE: u32 = 3;
const NAME: u32 = 4;
const DISTINCT_NODE: u32 = 5;
const KIND: u32 = 6;
const NAMED_NODE: u32 = 10;
pub const ATTACHMENT: u32 = 11;
const TEXTS: u32 = 35;
const GLOBAL_ATTACHMENT: u32 = 36;
const INDEX_OFFSET: u32 = 38;
const INDEX: u32 = 39;
const LAST_KNOWN: u32 = 49;

/// Attachments that are for debuggers and diagnostics.
const FOR_DEBUGGERS: [&[u8]; 5] = [b"dbg", b"srcloc", b"heapallocsite", b"DIAssignID", b"nosanitize"];

/// Flags of a module that are for debuggers.
const DEBUG_FLAGS: [&[u8]; 6] = [
    b"Dwarf Version",
    b"DWARF64",
    b"Debug Info Version",
    b"CodeView",
    b"CodeViewGHash",
    b"debug-info-assignment-tracking",
];

#[derive(Clone, Copy)]
enum Entry<'d> {
    Text(&'d [u8]),
    Value(u64),
    Node {
        start: u32,
        length: u32,
        is_distinct: bool,
    },
    /// For debuggers.
    Debug,
}

#[derive(Default)]
pub struct Metadata<'d> {
    entries: Vec<Entry<'d>>,
    operands: Vec<u64>,
    digests: Vec<Option<Digest>>,
    kinds: HashMap<u64, Vec<u8>>,
    named: HashMap<Vec<u8>, Vec<u64>>,
    /// Attachments of globals: value, kind and node.
    pub of_globals: Vec<(u64, u64, u64)>,
}

/// A state of the lists that can be returned to.
#[derive(Clone, Copy)]
pub struct Level(usize, usize);

impl<'d> Metadata<'d> {
    pub fn level(&self) -> Level {
        Level(self.entries.len(), self.operands.len())
    }

    pub fn return_to(&mut self, level: Level) {
        self.entries.truncate(level.0);
        self.digests.truncate(level.0);
        self.operands.truncate(level.1);
    }

    pub fn read_kinds(
        &mut self,
        mut block: Block<'d>,
        known: &mut Abbreviations,
        record: &mut Record<'d>,
    ) -> Result<(), Unreadable> {
        while block.next_record(known, record)? {
            if record.code == KIND
                && let Some(id) = record.operand(0)
            {
                self.kinds.insert(id, record.text(1));
            }
        }
        Ok(())
    }

    pub fn read(
        &mut self,
        mut block: Block<'d>,
        known: &mut Abbreviations,
        record: &mut Record<'d>,
    ) -> Result<(), Unreadable> {
        let mut name = Vec::new();
        while block.next_record(known, record)? {
            match record.code {
                TEXTS => self.read_texts(record)?,
                VALUE => {
                    let value = record.operand(1).ok_or(Unreadable::RECORD)?;
                    self.entries.push(Entry::Value(value));
                }
                NODE | DISTINCT_NODE => {
                    let start = self.operands.len() as u32;
                    self.operands.extend_from_slice(&record.operands);
                    let length = record.operands.len() as u32;
                    self.entries.push(Entry::Node {
                        start,
                        length,
                        is_distinct: record.code == DISTINCT_NODE,
                    });
                }
                NAME => name = record.text(0),
                NAMED_NODE => drop(self.named.insert(std::mem::take(&mut name), record.operands.clone())),
                GLOBAL_ATTACHMENT => {
                    let [value, attachments @ ..] = record.operands.as_slice() else {
                        return Err(Unreadable::RECORD);
                    };
                    self.of_globals
                        .extend(attachments.chunks_exact(2).map(|pair| (*value, pair[0], pair[1])));
                }
                KIND => {
                    if let Some(id) = record.operand(0) {
                        self.kinds.insert(id, record.text(1));
                    }
                }
                INDEX_OFFSET | INDEX => {}
                7 | 12..=34 | 37 | 40..=LAST_KNOWN => self.entries.push(Entry::Debug),
                code => return Err(Unreadable::Unknown(format!("metadata record {code}"))),
            }
        }
        self.digests.resize(self.entries.len(), None);
        Ok(())
    }

    /// Whether what is attached under a kind can change what code does; with its name.
    pub fn telling_kind(&self, kind: u64) -> Option<Vec<u8>> {
        match self.kinds.get(&kind) {
            Some(name) if FOR_DEBUGGERS.contains(&name.as_slice()) => None,
            Some(name) => Some(name.clone()),
            None => Some(kind.to_le_bytes().to_vec()),
        }
    }

    /// The texts of a named list of nodes. Example: the compilers under `llvm.ident`.
    pub fn texts_under(&self, name: &[u8]) -> Vec<String> {
        let nodes = self.named.get(name).map_or(&[][..], Vec::as_slice);
        let mut texts = Vec::new();
        for operand in nodes.iter().flat_map(|&node| self.operands_of(node)) {
            if let Some(Entry::Text(text)) = operand.checked_sub(1).and_then(|id| self.entry(id)) {
                texts.push(String::from_utf8_lossy(text).into_owned());
            }
        }
        texts.sort();
        texts.dedup();
        texts
    }

    /// The nodes of a module's flags, but for those that are for debuggers.
    pub fn flags(&self) -> Vec<u64> {
        let nodes = self.named.get(&b"llvm.module.flags"[..]).map_or(&[][..], Vec::as_slice);
        let key = |node: u64| {
            let key = self.operands_of(node).get(1)?.checked_sub(1)?;
            match self.entry(key)? {
                Entry::Text(text) => Some(text),
                Entry::Value(_) | Entry::Node { .. } | Entry::Debug => None,
            }
        };
        let is_telling = |node: &u64| key(*node).is_none_or(|key| !DEBUG_FLAGS.contains(&key));
        nodes.iter().copied().filter(is_telling).collect()
    }

    fn entry(&self, id: u64) -> Option<Entry<'d>> {
        self.entries.get(usize::try_from(id).ok()?).copied()
    }

    fn operands_of(&self, node: u64) -> &[u64] {
        match self.entry(node) {
            Some(Entry::Node { start, length, .. }) => &self.operands[start as usize..][..length as usize],
            Some(Entry::Text(_) | Entry::Value(_) | Entry::Debug) | None => &[],
        }
    }

    /// All texts in one record: their lengths as a stream of bits, then their characters.
    fn read_texts(&mut self, record: &Record<'d>) -> Result<(), Unreadable> {
        let (count, offset) =
            (record.operand(0).ok_or(Unreadable::RECORD)?, record.operand(1).ok_or(Unreadable::RECORD)?);
        let offset = usize::try_from(offset).map_err(|_| Unreadable::RECORD)?;
        let (lengths, mut characters) = record.blob.split_at_checked(offset).ok_or(Unreadable::RECORD)?;
        let mut lengths = Cursor::new(lengths);
        if count > lengths.bits_left() as u64 {
            return Err(Unreadable::RECORD);
        }
        for _ in 0..count {
            let length = lengths.chunks(6)? as usize;
            let (text, rest) = characters.split_at_checked(length).ok_or(Unreadable::RECORD)?;
            self.entries.push(Entry::Text(text));
            characters = rest;
        }
        Ok(())
    }
}

impl<'d> Module<'d> {
    /// A node, text or value by content. What is for debuggers is as if it were not there.
    pub fn metadata_digest(&mut self, id: u64) -> Result<Digest, Unreadable> {
        let mut path = Vec::new();
        Ok(self.metadata_digest_at(id, &mut path)?.unwrap_or_default())
    }

    fn metadata_digest_at(&mut self, id: u64, path: &mut Vec<u64>) -> Result<Option<Digest>, Unreadable> {
        let entry = self.metadata.entry(id).ok_or(Unreadable::RECORD)?;
        if let Some(digest) = self.metadata.digests[id as usize] {
            return Ok(Some(digest));
        }
        let mut digest = DigestBuilder::new(METADATA);
        match entry {
            Entry::Debug => return Ok(None),
            Entry::Text(text) => drop(digest.number(1).bytes(text)),
            Entry::Value(value) => {
                let mut draft = Draft::default();
                self.write_value(value, &mut draft)?;
                digest.number(2).bytes(&draft.bytes);
            }
            // Loops and scopes refer to themselves.
            Entry::Node { .. } if path.contains(&id) || path.len() as u32 > MOST_NESTED => {
                let distance = path.iter().rev().position(|&step| step == id).unwrap_or(usize::MAX);
                return Ok(Some(DigestBuilder::new(METADATA).number(3).number(distance as u64).finish()));
            }
            Entry::Node { start, length, is_distinct } => {
                digest.number(4).number(is_distinct as u64);
                path.push(id);
                for place in start..start + length {
                    match self.metadata.operands[place as usize] {
                        0 => drop(digest.number(5)),
                        operand => {
                            if let Some(part) = self.metadata_digest_at(operand - 1, path)? {
                                digest.digest(part);
                            }
                        }
                    }
                }
                path.pop();
            }
        }
        let digest = digest.finish();
        self.metadata.digests[id as usize] = Some(digest);
        Ok(Some(digest))
    }
}
