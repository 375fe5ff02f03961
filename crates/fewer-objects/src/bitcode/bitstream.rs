//! LLVM's bitstream container: bits, abbreviations, blocks and records. Never panics, loops or asks for much memory
//! on foreign bytes, which the crates for it do on damaged abbreviations. What records mean is told elsewhere.

use std::collections::HashMap;

/// Why a bitstream cannot be read on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(pub &'static str);

type Result<T> = std::result::Result<T, Damaged>;

/// The block that defines abbreviations for the others.
const BLOCK_INFO: u32 = 0;
const SET_BLOCK: u32 = 1;

const END_BLOCK: u64 = 0;
const ENTER_BLOCK: u64 = 1;
const DEFINE_ABBREVIATION: u64 = 2;
const PLAIN_RECORD: u64 = 3;
const FIRST_ABBREVIATION: u64 = 4;

/// Abbreviations one stream may define: no compiler makes a hundredth of them.
const MOST_ABBREVIATIONS: usize = 1 << 16;

/// A place in the bits of a stream, and where the part that may be read ends.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'d> {
    bytes: &'d [u8],
    bit: usize,
}

impl<'d> Cursor<'d> {
    pub fn new(bytes: &'d [u8]) -> Cursor<'d> {
        Cursor { bytes, bit: 0 }
    }

    pub fn is_at_end(&self) -> bool {
        self.bit >= self.bytes.len() * 8
    }

    pub fn bits_left(&self) -> usize {
        (self.bytes.len() * 8).saturating_sub(self.bit)
    }

    /// The next bits, at most 64 of them.
    #[inline]
    pub fn read(&mut self, width: u32) -> Result<u64> {
        if width > 56 {
            let low = self.read(32)?;
            return Ok(low | self.read(width - 32)? << 32);
        }
        if (width as usize) > self.bits_left() {
            return Err(Damaged("it ends in the middle of a record"));
        }
        let byte = self.bit >> 3;
        let word = match self.bytes.get(byte..byte + 8) {
            Some(word) => u64::from_le_bytes(word.try_into().expect("eight bytes")),
            None => {
                let mut word = [0u8; 8];
                let tail = &self.bytes[byte.min(self.bytes.len())..];
                word[..tail.len()].copy_from_slice(tail);
                u64::from_le_bytes(word)
            }
        };
        let value = word >> (self.bit & 7) & ((1u64 << width) - 1);
        self.bit += width as usize;
        Ok(value)
    }

    /// A number in chunks, of which the highest bit says that another follows.
    #[inline]
    pub fn chunks(&mut self, width: u32) -> Result<u64> {
        let more = 1u64 << (width - 1);
        let first = self.read(width)?;
        if first & more == 0 {
            return Ok(first);
        }
        let mut value = first & (more - 1);
        let mut shift = width - 1;
        loop {
            let chunk = self.read(width)?;
            if shift >= 64 {
                return Err(Damaged("a number has more than 64 bits"));
            }
            value |= (chunk & (more - 1)) << shift;
            shift += width - 1;
            if chunk & more == 0 {
                return Ok(value);
            }
        }
    }

    fn align(&mut self) -> Result<()> {
        self.bit = self.bit.next_multiple_of(32);
        if self.bit > self.bytes.len() * 8 {
            Err(Damaged("it ends in the middle of a block"))
        } else {
            Ok(())
        }
    }

    /// A run of whole bytes; the place must be one of a byte.
    fn take(&mut self, length: usize) -> Result<&'d [u8]> {
        let start = self.bit / 8;
        let end = start.checked_add(length).ok_or(Damaged("a length is too large"))?;
        let taken = self.bytes.get(start..end).ok_or(Damaged("it ends in the middle of a block"))?;
        self.bit = end * 8;
        Ok(taken)
    }
}

/// How one operand of an abbreviated record is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Encoding {
    Literal(u64),
    Fixed(u32),
    Chunks(u32),
    /// All operands that are left, each as the encoding that follows.
    Array,
    Char6,
    Blob,
}

type Abbreviation = Vec<Encoding>;

/// What is known of a stream besides the place in it.
#[derive(Default)]
pub struct Abbreviations {
    defined: Vec<Abbreviation>,
    /// By block the abbreviations that every such block begins with.
    by_block: HashMap<u32, Vec<u32>>,
}

/// A block being read.
pub struct Block<'d> {
    pub id: u32,
    cursor: Cursor<'d>,
    width: u32,
    abbreviations: Vec<u32>,
}

/// The last record read.
#[derive(Default)]
pub struct Record<'d> {
    pub code: u32,
    pub operands: Vec<u64>,
    pub blob: &'d [u8],
}

impl Record<'_> {
    pub fn operand(&self, index: usize) -> Option<u64> {
        self.operands.get(index).copied()
    }

    /// The operands as the characters of a text.
    pub fn text(&self, from: usize) -> Vec<u8> {
        self.operands.iter().skip(from).map(|&byte| byte as u8).collect()
    }
}

/// What was found next in a block.
pub enum Item<'d> {
    Block(Block<'d>),
    /// It is in the record that was given.
    Record,
    End,
}

impl<'d> Block<'d> {
    /// The outermost level of a stream, behind its magic number.
    pub fn outermost(bytes: &'d [u8]) -> Block<'d> {
        Block { id: u32::MAX, cursor: Cursor::new(bytes), width: 2, abbreviations: Vec::new() }
    }

    /// The block's bits that are not read yet.
    pub fn rest(&self) -> &'d [u8] {
        self.cursor.bytes.get(self.cursor.bit / 8..).unwrap_or(b"")
    }

    /// The next block within this one, or its next record. Abbreviations are kept for later.
    pub fn next(&mut self, known: &mut Abbreviations, record: &mut Record<'d>) -> Result<Item<'d>> {
        loop {
            if self.id == u32::MAX && self.cursor.is_at_end() {
                return Ok(Item::End);
            }
            match self.cursor.read(self.width)? {
                END_BLOCK => return Ok(Item::End),
                ENTER_BLOCK => {
                    let block = self.enter(known)?;
                    if block.id != BLOCK_INFO {
                        return Ok(Item::Block(block));
                    }
                    known.read_block_info(block)?;
                }
                DEFINE_ABBREVIATION => {
                    let index = known.define(&mut self.cursor)?;
                    self.abbreviations.push(index);
                }
                PLAIN_RECORD => {
                    read_plain(&mut self.cursor, record)?;
                    return Ok(Item::Record);
                }
                id => {
                    let place = (id - FIRST_ABBREVIATION) as usize;
                    let index = self.abbreviations.get(place).ok_or(Damaged("an abbreviation is unknown"))?;
                    read_abbreviated(&mut self.cursor, &known.defined[*index as usize], record)?;
                    return Ok(Item::Record);
                }
            }
        }
    }

    /// The next record; blocks within the block are passed over.
    pub fn next_record(&mut self, known: &mut Abbreviations, record: &mut Record<'d>) -> Result<bool> {
        loop {
            match self.next(known, record)? {
                Item::Block(_) => {}
                Item::Record => return Ok(true),
                Item::End => return Ok(false),
            }
        }
    }

    fn enter(&mut self, known: &Abbreviations) -> Result<Block<'d>> {
        let id = self.cursor.chunks(8)? as u32;
        let width = self.cursor.chunks(4)?;
        self.cursor.align()?;
        let words = self.cursor.read(32)? as usize;
        if !(2..=32).contains(&width) {
            return Err(Damaged("a block's abbreviations have an impossible width"));
        }
        let cursor = Cursor::new(self.cursor.take(words * 4)?);
        let abbreviations = known.by_block.get(&id).cloned().unwrap_or_default();
        Ok(Block { id, cursor, width: width as u32, abbreviations })
    }
}

impl Abbreviations {
    fn define(&mut self, cursor: &mut Cursor<'_>) -> Result<u32> {
        if self.defined.len() >= MOST_ABBREVIATIONS {
            return Err(Damaged("it defines too many abbreviations"));
        }
        let mut left = cursor.chunks(5)?;
        let mut abbreviation = Abbreviation::new();
        while left > 0 {
            left -= 1;
            abbreviation.push(read_encoding(cursor)?);
        }
        if !is_sound(&abbreviation) {
            return Err(Damaged("an abbreviation is impossible"));
        }
        self.defined.push(abbreviation);
        Ok(self.defined.len() as u32 - 1)
    }

    fn read_block_info(&mut self, mut block: Block<'_>) -> Result<()> {
        let mut current: Option<u32> = None;
        let mut record = Record::default();
        loop {
            match block.cursor.read(block.width)? {
                END_BLOCK => return Ok(()),
                DEFINE_ABBREVIATION => {
                    let index = self.define(&mut block.cursor)?;
                    let id = current.ok_or(Damaged("an abbreviation is for no block"))?;
                    self.by_block.entry(id).or_default().push(index);
                }
                PLAIN_RECORD => {
                    read_plain(&mut block.cursor, &mut record)?;
                    if record.code == SET_BLOCK {
                        current = record.operand(0).map(|id| id as u32);
                    }
                }
                _ => return Err(Damaged("its abbreviations cannot be read")),
            }
        }
    }
}

fn read_encoding(cursor: &mut Cursor<'_>) -> Result<Encoding> {
    if cursor.read(1)? == 1 {
        return Ok(Encoding::Literal(cursor.chunks(8)?));
    }
    let width = |cursor: &mut Cursor<'_>| match cursor.chunks(5)? {
        width @ 0..=64 => Ok(width as u32),
        _ => Err(Damaged("an abbreviation has an impossible width")),
    };
    match cursor.read(3)? {
        // Compilers write a width of 0 for what is always 0.
        1 => Ok(width(cursor)
            .map(|width| if width == 0 { Encoding::Literal(0) } else { Encoding::Fixed(width) })?),
        2 => match width(cursor)? {
            0 => Ok(Encoding::Literal(0)),
            width @ 2..=32 => Ok(Encoding::Chunks(width)),
            _ => Err(Damaged("an abbreviation has an impossible width")),
        },
        3 => Ok(Encoding::Array),
        4 => Ok(Encoding::Char6),
        5 => Ok(Encoding::Blob),
        _ => Err(Damaged("an abbreviation is impossible")),
    }
}

/// Whether arrays and blobs come last, and the elements of arrays are scalars that take room.
fn is_sound(abbreviation: &[Encoding]) -> bool {
    let is_scalar = |encoding: &Encoding| !matches!(encoding, Encoding::Array | Encoding::Blob);
    match abbreviation {
        [] => false,
        [first @ .., Encoding::Array, last] => {
            !first.is_empty() && first.iter().all(is_scalar) && is_scalar(last)
        }
        [first @ .., Encoding::Blob] => !first.is_empty() && first.iter().all(is_scalar),
        all => all.iter().all(is_scalar),
    }
}

fn read_plain(cursor: &mut Cursor<'_>, record: &mut Record<'_>) -> Result<()> {
    record.code = cursor.chunks(6)? as u32;
    let count = cursor.chunks(6)?;
    if count > cursor.bits_left() as u64 {
        return Err(Damaged("a record is longer than what is left"));
    }
    record.blob = b"";
    record.operands.clear();
    for _ in 0..count {
        record.operands.push(cursor.chunks(6)?);
    }
    Ok(())
}

fn read_abbreviated<'d>(
    cursor: &mut Cursor<'d>,
    abbreviation: &[Encoding],
    record: &mut Record<'d>,
) -> Result<()> {
    record.blob = b"";
    record.operands.clear();
    let mut encodings = abbreviation.iter();
    record.code = match encodings.next() {
        Some(&encoding) => read_scalar(cursor, encoding)? as u32,
        None => return Err(Damaged("an abbreviation is empty")),
    };
    while let Some(&encoding) = encodings.next() {
        match encoding {
            Encoding::Array => {
                let count = cursor.chunks(6)?;
                let element = encodings.next().copied().unwrap_or(Encoding::Literal(0));
                if count > cursor.bits_left() as u64 {
                    return Err(Damaged("a record is longer than what is left"));
                }
                record.operands.reserve(count as usize);
                for _ in 0..count {
                    record.operands.push(read_scalar(cursor, element)?);
                }
            }
            Encoding::Blob => {
                let length = cursor.chunks(6)? as usize;
                cursor.align()?;
                record.blob = cursor.take(length)?;
                cursor.align()?;
            }
            Encoding::Literal(_) | Encoding::Fixed(_) | Encoding::Chunks(_) | Encoding::Char6 => {
                record.operands.push(read_scalar(cursor, encoding)?);
            }
        }
    }
    Ok(())
}

#[inline]
fn read_scalar(cursor: &mut Cursor<'_>, encoding: Encoding) -> Result<u64> {
    const CHARACTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    match encoding {
        Encoding::Literal(value) => Ok(value),
        Encoding::Fixed(width) => cursor.read(width),
        Encoding::Chunks(width) => cursor.chunks(width),
        Encoding::Char6 => Ok(CHARACTERS[cursor.read(6)? as usize] as u64),
        Encoding::Array | Encoding::Blob => Err(Damaged("an abbreviation is impossible")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_across_bytes_and_at_the_end() {
        let bytes = [0xff, 0x0f, 0xa5, 1, 2, 3, 4, 5, 6, 7];
        let mut cursor = Cursor::new(&bytes);
        assert_eq!(cursor.read(4), Ok(0xf));
        assert_eq!(cursor.read(8), Ok(0xff));
        assert_eq!(cursor.read(64), Ok(0x7060_5040_3020_1a50));
        assert_eq!(cursor.read(4), Ok(0x0));
        assert!(cursor.read(1).is_err());
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let mut cursor = Cursor::new(&[0xff; 32]);
        assert!(cursor.chunks(6).is_err());
        let mut cursor = Cursor::new(&[0b1010_0001, 0]);
        assert_eq!(cursor.chunks(6), Ok(65));
    }

    #[test]
    fn impossible_abbreviations_are_refused() {
        use Encoding::*;
        assert!(is_sound(&[Literal(1), Array, Char6]));
        assert!(is_sound(&[Literal(1), Blob]));
        for unsound in
            [&[][..], &[Array, Char6], &[Literal(1), Array], &[Literal(1), Array, Blob], &[Blob, Char6]]
        {
            assert!(!is_sound(unsound), "{unsound:?}");
        }
    }
}
