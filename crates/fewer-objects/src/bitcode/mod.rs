//! The reader for LLVM bitcode: the same summaries as the ELF reader makes, from a level where every function has
//! its own content. One that cannot be understood becomes one opaque element, with a note.
//! How objects come together is the linker's business.

mod assembly;
mod attributes;
mod bitstream;
mod closures;
mod constants;
mod draft;
mod elements;
mod embedded;
mod function;
mod metadata;
mod module;
mod runtime;
mod types;
mod virtual_calls;

pub use embedded::read_embedded;

use bitstream::{Abbreviations, Block, Damaged, Item, Record};
use closures::add_closures;
use elements::Elements;
use module::Module;

use crate::reader::opaque;
use crate::summary::ObjectSummary;

const MAGIC: &[u8] = b"BC\xc0\xde";
const WRAPPER_MAGIC: &[u8] = b"\xde\xc0\x17\x0b";

const MODULE_BLOCK: u32 = 8;
const NAMES_BLOCK: u32 = 23;
const NAMES: u32 = 1;

/// Why a module cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("its bitcode is damaged: {0}")]
    Damaged(#[from] Damaged),
    #[error("its bitcode holds {0}, which this version does not know")]
    Unknown(String),
}

impl Unreadable {
    const RECORD: Unreadable = Unreadable::Damaged(Damaged("a record does not say what it should"));
    const TYPE: Unreadable = Unreadable::Damaged(Damaged("a type is missing"));
    const VALUE: Unreadable = Unreadable::Damaged(Damaged("a value is missing"));
}

/// Whether bytes begin as bitcode does.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(WRAPPER_MAGIC)
}

/// Reads bitcode: a file, a member of an archive or a section of an object.
pub fn read_bitcode(bytes: &[u8]) -> ObjectSummary {
    match read_modules(bytes) {
        Ok(mut summary) => {
            add_closures(&mut summary);
            summary
        }
        Err(error) => opaque(bytes, error.to_string()),
    }
}

/// The summary of all modules, without closures.
fn read_modules(bytes: &[u8]) -> Result<ObjectSummary, Unreadable> {
    let mut elements = Elements::new(bytes);
    let mut rest = bytes;
    let mut count = 0;
    while let Some(stream) = unwrapped(rest)? {
        let (streams, after) = next_stream(stream)?;
        for module in streams.modules {
            // Each module defines its abbreviations anew.
            let mut known = Abbreviations::default();
            let module = Module::read(module, streams.names, &mut known)?;
            elements.take(module, &mut known)?;
            count += 1;
        }
        rest = after;
    }
    if count == 0 {
        return Err(Unreadable::Damaged(Damaged("there is no module in it")));
    }
    Ok(elements.finish())
}

/// What is behind the header that some systems put before bitcode, and the zeros between two streams.
fn unwrapped(bytes: &[u8]) -> Result<Option<&[u8]>, Unreadable> {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    let bytes = &bytes[zeros..];
    if bytes.is_empty() {
        return Ok(None);
    }
    let word = |at: usize| {
        let word = bytes.get(at..at + 4).ok_or(Unreadable::RECORD)?;
        Ok::<usize, Unreadable>(u32::from_le_bytes(word.try_into().expect("four bytes")) as usize)
    };
    if bytes.starts_with(WRAPPER_MAGIC) {
        let (start, length) = (word(8)?, word(12)?);
        let end = start.checked_add(length).ok_or(Unreadable::RECORD)?;
        return bytes.get(start..end).map(Some).ok_or(Unreadable::RECORD);
    }
    Ok(Some(bytes))
}

/// One stream: its modules and the names that they share.
struct Stream<'d> {
    modules: Vec<Block<'d>>,
    names: &'d [u8],
    known: Abbreviations,
}

/// Finds the parts of a stream without reading modules; gives what is behind it, too.
fn next_stream(bytes: &[u8]) -> Result<(Stream<'_>, &[u8]), Unreadable> {
    let body = bytes.strip_prefix(MAGIC).ok_or(Damaged("it does not begin as bitcode does"))?;
    let mut stream = Stream { modules: Vec::new(), names: b"", known: Abbreviations::default() };
    let mut outermost = Block::outermost(body);
    let mut record = Record::default();
    loop {
        let rest = outermost.rest();
        if rest.starts_with(MAGIC) || rest.starts_with(WRAPPER_MAGIC) || rest.iter().all(|&byte| byte == 0) {
            return Ok((stream, rest));
        }
        match outermost.next(&mut stream.known, &mut record)? {
            Item::End => return Ok((stream, outermost.rest())),
            Item::Record => {}
            Item::Block(block) if block.id == MODULE_BLOCK => stream.modules.push(block),
            Item::Block(mut block) if block.id == NAMES_BLOCK => {
                while block.next_record(&mut stream.known, &mut record)? {
                    if record.code == NAMES {
                        stream.names = record.blob;
                    }
                }
            }
            Item::Block(_) => {}
        }
    }
}
