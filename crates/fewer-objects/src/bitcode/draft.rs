//! The content of one element in the making: bytes that mean the same in every module, with holes for what is
//! known by its content and not hashed yet, and the globals they lead to.

use fewer_core::Digest;

/// What an operand is, as the first byte of its encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Tag {
    Named = 1,
    /// A private global, by its content.
    Private,
    Constant,
    /// A constant that leads to globals, spelled out.
    Expression,
    Argument,
    Instruction,
    Metadata,
    /// The number of a line, which is no part of the content.
    Line,
    Record,
    Attachment,
    /// An entry of a virtual table.
    Entry,
}

#[derive(Clone, Default)]
pub struct Draft {
    pub bytes: Vec<u8>,
    /// Where in the bytes which global's content belongs.
    pub holes: Vec<(u32, u32)>,
    /// The globals that are led to, with repeats.
    pub references: Vec<u32>,
    /// Names that are led to without a global: of the runtime, or in assembly.
    pub names: Vec<Vec<u8>>,
}

/// A state of a draft that can be returned to.
#[derive(Clone, Copy)]
pub struct Mark {
    bytes: usize,
    holes: usize,
    references: usize,
    names: usize,
}

impl Draft {
    pub fn tag(&mut self, tag: Tag) {
        self.bytes.push(tag as u8);
    }

    pub fn number(&mut self, number: u64) {
        // Most are small.
        if number < 0xff {
            self.bytes.push(number as u8);
        } else {
            self.bytes.push(0xff);
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub fn digest(&mut self, digest: Digest) {
        self.bytes.extend_from_slice(&digest.to_bytes());
    }

    pub fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    pub fn hole(&mut self, global: u32) {
        self.holes.push((self.bytes.len() as u32, global));
        self.digest(Digest::default());
    }

    pub fn fill(&mut self, place: u32, digest: Digest) {
        let start = place as usize;
        self.bytes[start..start + 16].copy_from_slice(&digest.to_bytes());
    }

    pub fn mark(&self) -> Mark {
        Mark {
            bytes: self.bytes.len(),
            holes: self.holes.len(),
            references: self.references.len(),
            names: self.names.len(),
        }
    }

    pub fn return_to(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.holes.truncate(mark.holes);
        self.references.truncate(mark.references);
        self.names.truncate(mark.names);
    }

    pub fn clear(&mut self) {
        self.return_to(Mark { bytes: 0, holes: 0, references: 0, names: 0 });
    }
}
