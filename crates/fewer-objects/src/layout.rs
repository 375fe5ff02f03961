//! Where things lie in a linked file: the bytes of symbols, constants, and what the loader fills in. What is compared
//! with what is decided elsewhere.

use std::cell::Cell;
use std::ops::Range;

use crate::address_fields::FieldKind;
use crate::file_bytes::SHT_DIGEST;
use crate::image::ImageSymbol;
use crate::relocatable::{
    MOST_OVERLAP, Relocation, RelocationFields, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS, SHF_WRITE, SHT_NOBITS,
    SHT_RELA, SHT_SYMTAB, STT_TLS, SectionPlace, relocations_at, section_places,
};
use crate::summary::NameKey;

const SHT_RELR: u32 = 19;
const R_X86_64_COPY: u32 = 5;
const R_AARCH64_COPY: u32 = 1024;
const R_X86_64_RELATIVE: u32 = 8;
const R_X86_64_IRELATIVE: u32 = 37;
const R_AARCH64_RELATIVE: u32 = 1027;
const R_AARCH64_IRELATIVE: u32 = 1032;

/// The layout of one linked file.
pub struct Layout<'d> {
    /// Those that are loaded and have bytes in the file; the largest first, as most is in these.
    loaded: Vec<Loaded<'d>>,
    symbols: SymbolPlaces<'d>,
    /// What the loader fills in.
    filled: Vec<Filled<'d>>,
    /// Where the file is loaded.
    pub addresses: Range<u64>,
    pub is_x86: bool,
    /// Linked to a fixed address, so that code and data hold absolute addresses.
    pub is_fixed: bool,
    /// Words of data may be addresses although nothing says so.
    has_plain_addresses: bool,
    /// Whether somebody asked for bytes that are not held.
    has_missed: Cell<bool>,
}

/// A section that is loaded.
struct Loaded<'d> {
    addresses: Range<u64>,
    bytes: &'d [u8],
    flags: u64,
    /// Whether the bytes are there, and not only the digest of them.
    is_held: bool,
}

/// The bytes of a symbol.
#[derive(Clone, Copy)]
pub struct Body<'d> {
    pub address: u64,
    pub bytes: &'d [u8],
    pub is_code: bool,
}

/// Where a symbol lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Location {
    At(u64),
    /// So far into what each thread has of its own.
    OfThread(u64),
}

impl<'d> Loaded<'d> {
    /// The bytes from an address on, which is at or behind its own.
    fn from(&self, address: u64) -> &'d [u8] {
        self.bytes.get((address - self.addresses.start) as usize..).unwrap_or(b"")
    }

    /// Of an address at or behind its own.
    fn body(&self, address: u64, size: u32) -> Option<Body<'d>> {
        let start = usize::try_from(address - self.addresses.start).ok()?;
        let bytes = self.bytes.get(start..start.checked_add(size as usize)?)?;
        Some(Body { address, bytes, is_code: self.is_code() })
    }

    fn is_code(&self) -> bool {
        self.flags & SHF_EXECINSTR != 0
    }

    fn is_constant(&self) -> bool {
        self.flags & (SHF_WRITE | SHF_EXECINSTR) == 0
    }
}

/// A table of symbols with their names.
#[derive(Clone, Copy)]
pub struct SymbolPlaces<'d> {
    entries: &'d [u8],
    names: &'d [u8],
}

/// One of them.
#[derive(Clone, Copy)]
pub struct SymbolPlace<'d> {
    entry: &'d [u8; SYMBOL],
    names: &'d [u8],
}

const SYMBOL: usize = 24;
const SHORTEST_TEXT: usize = 4;

impl<'d> SymbolPlaces<'d> {
    const NONE: SymbolPlaces<'static> = SymbolPlaces { entries: b"", names: b"" };

    /// Of a section, if it holds such a table.
    fn of(
        bytes: &'d [u8],
        sections: &[SectionPlace<'_>],
        table: &SectionPlace<'_>,
    ) -> Option<SymbolPlaces<'d>> {
        let names = sections.get(table.link as usize)?;
        Some(SymbolPlaces {
            entries: bytes.get(table.range.clone())?,
            names: bytes.get(names.range.clone())?,
        })
    }

    pub fn iter(self) -> impl Iterator<Item = SymbolPlace<'d>> {
        let (entries, _) = self.entries.as_chunks::<SYMBOL>();
        entries.iter().map(move |entry| SymbolPlace { entry, names: self.names })
    }

    fn get(self, index: u32) -> Option<SymbolPlace<'d>> {
        let (entries, _) = self.entries.as_chunks::<SYMBOL>();
        Some(SymbolPlace { entry: entries.get(index as usize)?, names: self.names })
    }
}

impl<'d> SymbolPlace<'d> {
    /// The two words behind what is told of kind and name.
    fn words(&self) -> [u64; 2] {
        let (words, _) = self.entry[8..].as_chunks::<8>();
        [words[0], words[1]].map(u64::from_le_bytes)
    }

    #[inline]
    pub fn address(&self) -> u64 {
        self.words()[0]
    }

    pub fn size(&self) -> u64 {
        self.words()[1]
    }

    pub fn kind(&self) -> u8 {
        self.entry[4] & 0xf
    }

    pub fn is_local(&self) -> bool {
        self.entry[4] >> 4 == 0
    }

    pub fn name(&self) -> Option<&'d [u8]> {
        let start = self.entry.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
        let name = self.names.get(start as usize..)?;
        Some(&name[..memchr::memchr(0, name)?])
    }
}

/// What the loader fills in by one table; those that are sorted by address are found in the table itself.
struct Filled<'d> {
    table: &'d [Relocation],
    /// How many of the first are sorted.
    sorted: usize,
    /// The addresses of the others, sorted, each with its place in the table.
    others: Vec<(u64, u32)>,
    symbols: SymbolPlaces<'d>,
}

/// What the loader writes to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filling {
    /// An address of the file itself.
    Address(u64),
    /// The address of a name, and so many bytes on.
    Name(NameKey, u64),
    /// Something else. Example: where a thread keeps its variables.
    Other,
}

impl<'d> Filled<'d> {
    fn of(table: &'d [Relocation], symbols: SymbolPlaces<'d>) -> Filled<'d> {
        let is_step = |pair: &[Relocation]| pair[0].offset() <= pair[1].offset();
        let steps = table.windows(2).take_while(|pair| is_step(pair)).count();
        let sorted = (steps + 1).min(table.len());
        let others = table.iter().zip(0..).skip(sorted);
        let mut others: Vec<(u64, u32)> =
            others.map(|(relocation, place)| (relocation.offset(), place)).collect();
        others.sort_unstable();
        Filled { table, sorted, others, symbols }
    }

    /// What is filled in at these addresses.
    fn within(&self, addresses: Range<u64>) -> impl Iterator<Item = &'d Relocation> {
        let sorted = &self.table[..self.sorted];
        let first = sorted.partition_point(|relocation| relocation.offset() < addresses.start);
        let end = addresses.end;
        let among_sorted = sorted[first..].iter().take_while(move |relocation| relocation.offset() < end);
        let first = self.others.partition_point(|(address, _)| *address < addresses.start);
        let among_others = self.others[first..].iter().take_while(move |(address, _)| *address < end);
        let table = self.table;
        // What is copied from a shared library is no address.
        let is_address =
            |relocation: &&Relocation| !matches!(relocation.kind(), R_X86_64_COPY | R_AARCH64_COPY);
        among_sorted.chain(among_others.map(move |(_, place)| &table[*place as usize])).filter(is_address)
    }

    fn filling(&self, relocation: &Relocation) -> Filling {
        let addend = relocation.addend() as u64;
        let name = |symbol: SymbolPlace<'_>| symbol.name().map(NameKey::of);
        match (relocation.symbol(), relocation.kind()) {
            (0, R_X86_64_RELATIVE | R_X86_64_IRELATIVE | R_AARCH64_RELATIVE | R_AARCH64_IRELATIVE) => {
                Filling::Address(addend)
            }
            (0, _) => Filling::Other,
            (symbol, _) => {
                let name = self.symbols.get(symbol).and_then(name);
                name.map_or(Filling::Other, |key| Filling::Name(key, addend))
            }
        }
    }
}

impl<'d> Layout<'d> {
    pub fn of(bytes: &'d [u8]) -> Option<Layout<'d>> {
        let sections = section_places(bytes)?;
        let is_loaded = |section: &&SectionPlace<'_>| section.flags & SHF_ALLOC != 0;
        let addresses =
            |section: &SectionPlace<'_>| section.address..section.address.saturating_add(section.size);
        let low = sections.iter().filter(is_loaded).map(|section| section.address).min()?;
        let high = sections.iter().filter(is_loaded).map(|section| addresses(section).end).max()?;
        let mut loaded: Vec<Loaded<'d>> = sections
            .iter()
            .filter(|section| is_loaded(section) && section.kind != SHT_NOBITS)
            .filter_map(|section| {
                let bytes = bytes.get(section.range.clone())?;
                let is_held = section.kind != SHT_DIGEST;
                Some(Loaded { addresses: addresses(section), bytes, flags: section.flags, is_held })
            })
            .collect();
        loaded.sort_by_key(|section| std::cmp::Reverse(section.bytes.len()));
        let symbol_table = sections.iter().find(|section| section.kind == SHT_SYMTAB);
        let symbols = symbol_table.and_then(|table| SymbolPlaces::of(bytes, &sections, table));
        let filled = || sections.iter().filter(|section| is_loaded(section) && section.kind == SHT_RELA);
        let room = bytes.len().saturating_mul(MOST_OVERLAP);
        if filled().fold(0, |sum: usize, section| sum.saturating_add(section.range.len())) > room {
            return None;
        }
        let filled = filled().map(|section| {
            let symbols = sections.get(section.link as usize);
            let symbols = symbols.and_then(|table| SymbolPlaces::of(bytes, &sections, table));
            Filled::of(relocations_at(bytes, section.range.clone()), symbols.unwrap_or(SymbolPlaces::NONE))
        });
        let is_fixed = bytes.get(16..18) == Some(&[2, 0]);
        Some(Layout {
            loaded,
            symbols: symbols.unwrap_or(SymbolPlaces::NONE),
            filled: filled.collect(),
            addresses: low..high,
            is_x86: bytes.get(18..20) == Some(&[62, 0]),
            is_fixed,
            has_plain_addresses: is_fixed || sections.iter().any(|section| section.kind == SHT_RELR),
            has_missed: Cell::new(false),
        })
    }

    pub fn symbols(&self) -> SymbolPlaces<'d> {
        self.symbols
    }

    /// Where a symbol lies; `None` if the file has no such symbol.
    pub fn place(&self, symbol: &ImageSymbol) -> Option<Location> {
        let symbol = self.symbols.get(symbol.entry.index() as u32)?;
        Some(match symbol.kind() {
            STT_TLS => Location::OfThread(symbol.address()),
            _ => Location::At(symbol.address()),
        })
    }

    /// The bytes of a symbol; `None` for what has none in the file.
    pub fn body(&self, location: Location, size: u32) -> Option<Body<'d>> {
        match location {
            Location::At(address) => self.body_at(address, size),
            Location::OfThread(offset) => {
                let mut initial = self.loaded.iter().filter(|section| section.flags & SHF_TLS != 0);
                let first = initial.clone().map(|section| section.addresses.start).min()?;
                let address = first.checked_add(offset)?;
                initial.find(|section| section.addresses.contains(&address))?.body(address, size)
            }
        }
    }

    pub fn body_at(&self, address: u64, size: u32) -> Option<Body<'d>> {
        self.section_at(address)?.body(address, size)
    }

    /// The loaded section with bytes of its own that an address is in.
    fn section_at(&self, address: u64) -> Option<&Loaded<'d>> {
        let section = self.loaded.iter().find(|section| section.addresses.contains(&address))?;
        if !section.is_held {
            self.has_missed.set(true);
        }
        Some(section).filter(|section| section.is_held)
    }

    /// Whether something was asked for that is not held: what was told since is not all of it.
    pub fn has_missed(&self) -> bool {
        self.has_missed.get()
    }

    pub fn is_constant(&self, address: u64) -> bool {
        self.section_at(address).is_some_and(Loaded::is_constant)
    }

    /// The bytes of a constant: as many as are read, or a text that begins there. A table of branches is no text: its
    /// entries are distances, whose last bytes are not printed.
    pub fn constant(&self, address: u64, kind: FieldKind) -> Option<&'d [u8]> {
        let section = self.section_at(address).filter(|section| section.is_constant())?;
        let bytes = section.from(address);
        if let FieldKind::Access(size) = kind {
            return bytes.get(..size as usize).filter(|bytes| !self.is_fixed || !self.holds_addresses(bytes));
        }
        let text = &bytes[..memchr::memchr(0, bytes)?];
        let is_printed = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r' | 0x1b | 0x80..);
        let (start, rest) = text.split_at_checked(SHORTEST_TEXT)?;
        let is_text = start.iter().all(is_printed) && rest.iter().all(is_printed);
        (is_text && std::str::from_utf8(text).is_ok()).then_some(text)
    }

    /// Whether these bytes are the constant at an address, in a file that is not fixed.
    pub fn has_constant(&self, address: u64, kind: FieldKind, constant: &[u8]) -> bool {
        let Some(section) = self.section_at(address).filter(|section| section.is_constant()) else {
            return false;
        };
        let Some(rest) = section.from(address).strip_prefix(constant) else { return false };
        match kind {
            FieldKind::Access(size) => size as usize == constant.len() && !self.is_fixed,
            FieldKind::Address => rest.first() == Some(&0),
            FieldKind::Branch => false,
        }
    }

    /// Whether a text of few letters, or of none, may begin at an address. Linkers put these anywhere, also within what has
    /// a name.
    pub fn may_be_short_text(&self, address: u64) -> bool {
        let is_printed = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
        let start = self.section_at(address).map_or(&b""[..], |section| section.from(address));
        start.iter().take(SHORTEST_TEXT).find(|byte| !is_printed(byte)) == Some(&0)
    }

    fn holds_addresses(&self, bytes: &[u8]) -> bool {
        self.plain_addresses(bytes).next().is_some()
    }

    fn plain_addresses(&self, bytes: &[u8]) -> impl Iterator<Item = (usize, u64)> {
        let (words, _) = bytes.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).enumerate();
        words.filter(|(_, value)| self.addresses.contains(value)).map(|(place, value)| (place * 8, value))
    }

    /// What is filled in at an address.
    pub fn filling_at(&self, address: u64) -> Option<Filling> {
        self.filled.iter().find_map(|filled| {
            let relocation = filled.within(address..address.saturating_add(1)).next()?;
            Some(filled.filling(relocation))
        })
    }

    /// The places in some data that hold addresses, with what is there: filled in by the loader, or by the linker.
    pub fn fillings(&self, Body { address, bytes, .. }: Body<'d>) -> Vec<(usize, Filling)> {
        let range = address..address.saturating_add(bytes.len() as u64);
        let mut found: Vec<(usize, Filling)> = Vec::new();
        for filled in &self.filled {
            // More than one at a place is damage.
            let places = filled.within(range.clone()).take(bytes.len());
            found.extend(places.map(|place| ((place.offset() - address) as usize, filled.filling(place))));
        }
        found.sort_by_key(|(place, _)| *place);
        found.dedup_by_key(|(place, _)| *place);
        if self.has_plain_addresses {
            let said = found.len();
            for (place, value) in self.plain_addresses(bytes) {
                if value != 0 && found[..said].binary_search_by_key(&place, |(place, _)| *place).is_err() {
                    found.push((place, Filling::Address(value)));
                }
            }
            found.sort_by_key(|(place, _)| *place);
        }
        found
    }
}
