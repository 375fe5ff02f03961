//! Code that a program contains but no object of the build explains: static libraries from elsewhere, or objects
//! that are gone. It is compared function by function with addresses replaced by what lies there, so that it stays the
//! same while the program around it moves.

use std::collections::HashMap;
use std::ops::Range;

use fewer_core::{Digest, DigestBuilder, Domain};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::image::{ImageSummary, ImageSymbol};
use crate::image_set::ImageSet;
use crate::name_map::SizedNameMap;
use crate::relocatable::{
    SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS, SHT_SYMTAB, STT_FUNC, SectionPlace, section_places,
};
use crate::summary::{NameKey, UNKNOWN_SIZE};
use crate::symbol_names::is_counter;

const FOREIGN: Domain = Domain::new("image.foreign");
const WHOLE: Domain = Domain::new("image.whole");

/// A digest of the foreign part of programs, with the work on equal functions shared between them.
#[derive(Default)]
pub struct ForeignReader {
    /// By name and size the functions met so far: several may have both.
    functions: SizedNameMap<Vec<Function>>,
    scratch: Vec<u8>,
}

/// Where a function's code holds addresses, and what it is without them.
struct Function {
    masked: Digest,
    fields: Vec<AddressField>,
}

/// A place in code that holds an address.
struct AddressField {
    place: Range<usize>,
    /// What the field counts from: the end of the instruction, by its offset in the code. `None` for absolute addresses.
    from: Option<usize>,
    kind: FieldKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    /// Of a branch that leaves the function.
    Branch,
    /// Of memory that the instruction reads or writes, with the number of bytes.
    Access(usize),
    /// The address is taken.
    Address,
}

impl AddressField {
    /// The address that the field of some code holds.
    fn target(&self, address: u64, code: &[u8]) -> u64 {
        let value = immediate_value(code, &self.place);
        let Some(end) = self.from else { return value };
        let distance = match self.place.len() {
            1 => i64::from(value as i8),
            2 => i64::from(value as i16),
            _ => i64::from(value as i32),
        };
        address.wrapping_add(end as u64).wrapping_add_signed(distance)
    }
}

/// A symbol of a linked file that no definition of its objects explains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub symbol: ImageSymbol,
    /// Whether it is taken for a local symbol of an object.
    pub is_explained: bool,
}

/// A local name of an object, or of an element that several objects share, which has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    pub object: Option<u32>,
    /// The linked files that its objects are part of.
    pub images: ImageSet,
    pub key: NameKey,
    pub size: u32,
}

/// The local names of a build that may explain symbols of linked files, by name and size.
pub struct Explanations<'l> {
    by_name: SizedNameMap<Vec<&'l ImageSet>>,
    has_unknown_sizes: bool,
}

impl<'l> Explanations<'l> {
    pub fn of(locals: impl IntoIterator<Item = &'l Local>) -> Explanations<'l> {
        let mut explanations = Explanations { by_name: SizedNameMap::default(), has_unknown_sizes: false };
        for local in locals {
            explanations.by_name.entry((local.key, local.size)).or_default().push(&local.images);
            explanations.has_unknown_sizes |= local.size == UNKNOWN_SIZE;
        }
        explanations
    }

    /// How many local symbols the objects of a linked file have that may be this one.
    fn count(&self, symbol: &ImageSymbol, image: usize) -> usize {
        let of_size = |size: u32| self.by_name.get(&(symbol.key, size)).into_iter().flatten();
        let unknown = self.has_unknown_sizes.then_some(UNKNOWN_SIZE).into_iter().flat_map(of_size);
        of_size(symbol.size).chain(unknown).filter(|images| images.contains(image)).count()
    }

    /// Judges which symbols of a linked file are local ones of its objects: those of which there are no more, by name
    /// and size, than its objects have. Tells whether that is another judgement than before.
    pub fn judge(&self, candidates: &mut [Candidate], image: usize) -> bool {
        let is_known = |symbol: &ImageSymbol| {
            let has_size = |size| self.by_name.contains_key(&(symbol.key, size));
            has_size(symbol.size) || (self.has_unknown_sizes && has_size(UNKNOWN_SIZE))
        };
        let mut known: SizedNameMap<(ImageSymbol, usize)> = SizedNameMap::default();
        for Candidate { symbol, .. } in candidates.iter() {
            if !symbol.entry.is_global() && is_known(symbol) {
                known.entry((symbol.key, symbol.size)).or_insert((*symbol, 0)).1 += 1;
            }
        }
        known.retain(|_, (symbol, there)| *there <= self.count(symbol, image));
        let mut is_changed = false;
        for Candidate { symbol, is_explained } in candidates {
            let is_local = !symbol.entry.is_global() && known.contains_key(&(symbol.key, symbol.size));
            is_changed |= std::mem::replace(is_explained, is_local) != is_local;
        }
        is_changed
    }
}

/// The layout of one linked file.
pub struct Layout<'d> {
    bytes: &'d [u8],
    sections: Vec<SectionPlace<'d>>,
    symbol_table: &'d [u8],
    symbol_names: &'d [u8],
    /// Where constants lie, each with its bytes; the largest first.
    constants: Vec<(Range<u64>, &'d [u8])>,
    addresses: Range<u64>,
    is_x86: bool,
    /// Linked to a fixed address, so that code and data hold absolute addresses.
    is_fixed: bool,
}

impl ForeignReader {
    /// The digest of the symbols of a file that nothing explains, if it has some. A file counts as a whole if it is
    /// stripped, or not the one that the symbols are of.
    pub fn read(&mut self, bytes: &[u8], image: &ImageSummary, candidates: &[Candidate]) -> Option<Digest> {
        let foreign = candidates.iter().filter(|candidate| !candidate.is_explained);
        let layout = Layout::of(bytes).filter(|_| !image.is_stripped());
        let placed = |layout: &Layout<'_>| -> Option<Vec<(ImageSymbol, u64)>> {
            foreign.map(|candidate| Some((candidate.symbol, layout.address(&candidate.symbol)?))).collect()
        };
        let placed = layout.as_ref().and_then(placed);
        let (Some(layout), Some(mut foreign)) = (layout, placed) else {
            return Some(Digest::of(WHOLE, bytes));
        };
        foreign.sort_unstable_by_key(|(symbol, address)| (symbol.key, *address));
        let mut parts = Vec::with_capacity(foreign.len());
        for &(symbol, address) in &foreign {
            // What has no bytes in the file starts as zeros, or is copied from a shared library.
            let Some((body, is_code)) = layout.body_at(address, symbol.size) else { continue };
            if is_code || body.iter().any(|&byte| byte != 0) {
                let function =
                    (is_code && layout.is_x86).then(|| self.function(&layout, &symbol, address, body));
                parts.push(Part { symbol, address, body, is_code, function });
            }
        }
        let named = NamedPlaces::of(&foreign);
        const USUAL_FIELDS: usize = 16;
        let mut targets: Vec<Target<'_>> = Vec::with_capacity(parts.len() * USUAL_FIELDS);
        for Part { symbol, address, body, function, .. } in &parts {
            let fields = function.map_or(&[][..], |place| self.fields(symbol, place));
            let target =
                |field: &AddressField| Target::of(&layout, &named, field.kind, field.target(*address, body));
            targets.extend(fields.iter().map(target));
        }
        let numbered = numbered_functions(&layout, &targets);
        let mut targets = targets.into_iter();
        let mut digest = DigestBuilder::new(FOREIGN);
        let mut scratch = Vec::new();
        for Part { symbol, body, is_code, function, .. } in &parts {
            digest.number(symbol.key.0).number(symbol.size as u64);
            if let Some(place) = *function {
                let function = &self.functions[&(symbol.key, symbol.size)][place];
                digest.digest(function.masked);
                for target in targets.by_ref().take(function.fields.len()) {
                    match target {
                        Target::Named(key, offset) => digest.number(key.0).number(1 << 32 | offset),
                        Target::Elsewhere(address) => digest.number(2).number(address),
                        Target::Code(_) if numbered.is_empty() => digest.number(3).bytes(b""),
                        Target::Code(address) => {
                            digest.number(3).bytes(numbered.get(&address).map_or(b"", Vec::as_slice))
                        }
                        Target::Constant(bytes) => digest.number(4).bytes(bytes),
                    };
                }
                continue;
            }
            scratch.clear();
            scratch.extend_from_slice(body);
            if *is_code {
                mask_aarch64(&mut scratch);
            } else {
                mask_addresses(&layout, &mut scratch);
            }
            digest.digest(Digest::of(FOREIGN, &scratch));
        }
        (!parts.is_empty()).then(|| digest.finish())
    }

    fn fields(&self, symbol: &ImageSymbol, place: usize) -> &[AddressField] {
        &self.functions[&(symbol.key, symbol.size)][place].fields
    }

    /// The place of a function with this code among those of its name and size; decoded only if none is like it.
    fn function(&mut self, layout: &Layout<'_>, symbol: &ImageSymbol, address: u64, code: &[u8]) -> usize {
        let ForeignReader { functions, scratch } = self;
        let known = functions.entry((symbol.key, symbol.size)).or_default();
        let mut masked = |fields: &[AddressField]| {
            scratch.clear();
            scratch.extend_from_slice(code);
            mask(scratch, fields);
            Digest::of(FOREIGN, scratch)
        };
        // Code that is the same without addresses, and leaves by the same branches, holds them in the same places; but for
        // absolute ones, of which each file has others.
        let inside = address..address.saturating_add(code.len() as u64);
        let leaves = |field: &AddressField| {
            field.kind != FieldKind::Branch || !inside.contains(&field.target(address, code))
        };
        let is_like = |function: &Function| {
            masked(&function.fields) == function.masked && function.fields.iter().all(leaves)
        };
        let place = if layout.is_fixed { None } else { known.iter().position(is_like) };
        place.unwrap_or_else(|| {
            let fields = x86_address_fields(layout, address, code);
            known.push(Function { masked: masked(&fields), fields });
            known.len() - 1
        })
    }
}

/// A foreign symbol with its bytes; code with its place among the functions of its name and size.
struct Part<'d> {
    symbol: ImageSymbol,
    address: u64,
    body: &'d [u8],
    is_code: bool,
    function: Option<usize>,
}

/// The foreign symbols of a linked file by address; of several that begin at one, always the same.
struct NamedPlaces {
    starts: Vec<u64>,
    symbols: Vec<(NameKey, u32)>,
    /// Per stretch of addresses, from the first symbol on, how many symbols begin before it.
    before: Vec<u32>,
    /// A stretch has this power of two of addresses.
    stretch: u32,
}

impl NamedPlaces {
    fn of(foreign: &[(ImageSymbol, u64)]) -> NamedPlaces {
        const MOST_STRETCHES: u64 = 1 << 15;
        // They come in the order of their names.
        let mut sorted: Vec<(u64, u32)> = foreign.iter().map(|(_, address)| *address).zip(0..).collect();
        sorted.sort_unstable();
        sorted.dedup_by_key(|(address, _)| *address);
        let low = sorted.first().map_or(0, |(first, _)| *first);
        let span = sorted.last().map_or(0, |(last, _)| last - low);
        let stretch = u64::BITS - (span / MOST_STRETCHES).leading_zeros();
        let mut before = Vec::with_capacity((span >> stretch) as usize + 2);
        for (index, (address, _)) in sorted.iter().enumerate() {
            let own = ((address - low) >> stretch) as usize;
            before.resize(before.len().max(own + 1), index as u32);
        }
        before.push(sorted.len() as u32);
        let symbol = |&(_, place): &(u64, u32)| {
            let (symbol, _) = &foreign[place as usize];
            (symbol.key, symbol.size)
        };
        let symbols = sorted.iter().map(symbol).collect();
        NamedPlaces { starts: sorted.into_iter().map(|(start, _)| start).collect(), symbols, before, stretch }
    }

    /// The symbol at an address, and how far into it.
    #[inline]
    fn at(&self, address: u64) -> Option<(NameKey, u64)> {
        let distance = address.checked_sub(*self.starts.first()?)?;
        let stretch = (distance >> self.stretch) as usize;
        let mut place = *self.before.get(stretch + 1).or(self.before.last())? as usize;
        // The first symbol begins at or before the address.
        while self.starts[place - 1] > address {
            place -= 1;
        }
        let (key, size) = self.symbols[place - 1];
        let offset = address - self.starts[place - 1];
        (offset == 0 || offset < u64::from(size)).then_some((key, offset))
    }
}

/// What lies at an address that foreign code holds.
enum Target<'d> {
    /// A foreign symbol, and how far into it.
    Named(NameKey, u64),
    /// Nothing of the file.
    Elsewhere(u64),
    /// Code of other names, or with a number instead of one.
    Code(u64),
    /// The bytes of a constant; none for what has none, or changes while the program runs.
    Constant(&'d [u8]),
}

impl<'d> Target<'d> {
    fn of(layout: &Layout<'d>, named: &NamedPlaces, kind: FieldKind, address: u64) -> Target<'d> {
        if let Some((key, offset)) = named.at(address) {
            Target::Named(key, offset)
        } else if !layout.addresses.contains(&address) {
            Target::Elsewhere(address)
        } else if kind == FieldKind::Branch {
            Target::Code(address)
        } else {
            Target::Constant(layout.constant(address, kind).unwrap_or(b""))
        }
    }
}

/// The functions that are branched to and have a number instead of a name, by address: their code without addresses.
fn numbered_functions(layout: &Layout<'_>, targets: &[Target<'_>]) -> HashMap<u64, Vec<u8>> {
    let code = targets.iter().filter_map(|target| match target {
        Target::Code(address) => Some(*address),
        Target::Named(..) | Target::Elsewhere(_) | Target::Constant(_) => None,
    });
    let mut open: Vec<u64> = code.collect();
    open.sort_unstable();
    open.dedup();
    // There are many symbols and few open addresses: most are ruled out by some of their bits.
    const BITS: usize = 1 << 16;
    let mut may_be_open = vec![false; BITS];
    open.iter().for_each(|&address| may_be_open[address as usize % BITS] = true);
    let is_open = |entry: &[u8]| {
        let address = number(entry, ADDRESS);
        may_be_open[address as usize % BITS] && open.binary_search(&address).is_ok()
    };
    let found = layout.symbol_table.chunks_exact(SYMBOL).filter(|entry| is_open(entry));
    found.filter_map(|entry| layout.numbered_function(entry)).collect()
}

/// An entry of the symbol table, and where in it are the address and the size.
const SYMBOL: usize = 24;
const ADDRESS: usize = 8;
const SIZE: usize = 16;

fn number(entry: &[u8], at: usize) -> u64 {
    entry.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

impl<'d> Layout<'d> {
    pub fn of(bytes: &'d [u8]) -> Option<Layout<'d>> {
        let sections = section_places(bytes)?;
        let loaded = || sections.iter().filter(|section| section.flags & SHF_ALLOC != 0);
        let low = loaded().map(|section| section.address).min()?;
        let high =
            loaded().map(|section| section.address.saturating_add(section.range.len() as u64)).max()?;
        let data = |section: &SectionPlace<'_>| bytes.get(section.range.clone());
        let symbol_table = sections.iter().find(|section| section.kind == SHT_SYMTAB);
        let symbol_names = symbol_table.and_then(|section| sections.get(section.link as usize));
        let is_constant = |section: &&SectionPlace<'_>| {
            section.flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR) == SHF_ALLOC && section.kind != SHT_NOBITS
        };
        let mut constants: Vec<(Range<u64>, &[u8])> = sections
            .iter()
            .filter(is_constant)
            .filter_map(|section| {
                let end = section.address.checked_add(section.range.len() as u64)?;
                Some((section.address..end, data(section)?))
            })
            .collect();
        constants.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.len()));
        Some(Layout {
            bytes,
            symbol_table: symbol_table.and_then(data).unwrap_or(b""),
            symbol_names: symbol_names.and_then(data).unwrap_or(b""),
            constants,
            addresses: low..high,
            is_x86: bytes.get(18..20) == Some(&[62, 0]),
            is_fixed: bytes.get(16..18) == Some(&[2, 0]),
            sections,
        })
    }

    /// The bytes of a symbol, and whether they are code; `None` for what has no bytes in the file.
    pub fn body(&self, symbol: &ImageSymbol) -> Option<(&'d [u8], bool)> {
        self.body_at(self.address(symbol)?, symbol.size)
    }

    fn address(&self, symbol: &ImageSymbol) -> Option<u64> {
        symbol.entry.address(self.symbol_table)
    }

    fn body_at(&self, address: u64, size: u32) -> Option<(&'d [u8], bool)> {
        let section = self.section_at(address)?;
        let start = section.range.start + (address - section.address) as usize;
        let body = self.bytes.get(start..start.checked_add(size as usize)?)?;
        Some((body, section.flags & SHF_EXECINSTR != 0))
    }

    /// The address and the code of a function, if it is one that the compiler gave a number.
    fn numbered_function(&self, entry: &[u8]) -> Option<(u64, Vec<u8>)> {
        let start = u32::from_le_bytes(entry.get(..4)?.try_into().ok()?) as usize;
        let name = self.symbol_names.get(start..)?;
        let name = &name[..memchr::memchr(0, name)?];
        let (kind, binding) = (entry[4] & 0xf, entry[4] >> 4);
        if kind != STT_FUNC || binding != 0 || !is_counter(name) {
            return None;
        }
        let address = number(entry, ADDRESS);
        let (code, _) = self.body_at(address, u32::try_from(number(entry, SIZE)).ok()?)?;
        let mut code = code.to_vec();
        let fields = x86_address_fields(self, address, &code);
        mask(&mut code, &fields);
        Some((address, code))
    }

    /// The loaded section with bytes of its own that an address is in.
    fn section_at(&self, address: u64) -> Option<&SectionPlace<'d>> {
        self.sections.iter().find(|section| {
            let end = section.address.saturating_add(section.range.len() as u64);
            section.flags & SHF_ALLOC != 0
                && section.kind != SHT_NOBITS
                && (section.address..end).contains(&address)
        })
    }

    fn holds_addresses(&self, bytes: &[u8]) -> bool {
        let value = |word: &[u8]| word.try_into().map(u64::from_le_bytes).unwrap_or_default();
        bytes.chunks_exact(8).any(|word| self.addresses.contains(&value(word)))
    }

    /// The bytes of a constant: as many as are read, or a text that begins there. A table of branches is no text: its
    /// entries are distances, whose last bytes are not printed.
    fn constant(&self, address: u64, kind: FieldKind) -> Option<&'d [u8]> {
        const SHORTEST_TEXT: usize = 4;
        let (addresses, bytes) = self.constants.iter().find(|(addresses, _)| addresses.contains(&address))?;
        let bytes = bytes.get((address - addresses.start) as usize..)?;
        if let FieldKind::Access(size) = kind {
            return bytes.get(..size).filter(|bytes| !self.is_fixed || !self.holds_addresses(bytes));
        }
        let text = &bytes[..memchr::memchr(0, bytes)?];
        let is_printed = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
        let (start, rest) = text.split_at_checked(SHORTEST_TEXT)?;
        (start.iter().all(is_printed) && rest.iter().all(is_printed)).then_some(text)
    }
}

/// Where a function's code holds addresses: displacements relative to the instruction, branches out of the
/// function, and absolute addresses in programs linked to a fixed place.
fn x86_address_fields(layout: &Layout<'_>, address: u64, code: &[u8]) -> Vec<AddressField> {
    let mut fields = Vec::new();
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let inside = address..address.saturating_add(code.len() as u64);
    while decoder.can_decode() {
        let start = decoder.position();
        decoder.decode_out(&mut instruction);
        let end = decoder.position();
        let offsets = decoder.get_constant_offsets(&instruction);
        let displacement = start + offsets.displacement_offset()
            ..start + offsets.displacement_offset() + offsets.displacement_size();
        let immediate =
            start + offsets.immediate_offset()..start + offsets.immediate_offset() + offsets.immediate_size();
        let is_address = |value: u64| layout.is_fixed && layout.addresses.contains(&value);
        let is_relative = instruction.is_ip_rel_memory_operand();
        if is_relative || (offsets.has_displacement() && is_address(instruction.memory_displacement64())) {
            let is_alone =
                instruction.memory_index() == Register::None && instruction.mnemonic() != Mnemonic::Lea;
            let kind = match is_alone {
                true => FieldKind::Access(instruction.memory_size().size()),
                false => FieldKind::Address,
            };
            fields.push(AddressField { place: displacement, from: is_relative.then_some(end), kind });
        }
        let leaves = matches!(instruction.op0_kind(), OpKind::NearBranch64)
            && instruction.flow_control() != FlowControl::Next
            && !inside.contains(&instruction.near_branch_target());
        if leaves || (offsets.immediate_size() >= 4 && is_address(immediate_value(code, &immediate))) {
            let kind = if leaves { FieldKind::Branch } else { FieldKind::Address };
            fields.push(AddressField { place: immediate, from: leaves.then_some(end), kind });
        }
    }
    fields
}

fn mask(code: &mut [u8], fields: &[AddressField]) {
    for field in fields {
        if let Some(bytes) = code.get_mut(field.place.clone()) {
            // Nearly all are of four bytes.
            match bytes.first_chunk_mut::<4>() {
                Some(word) if field.place.len() == 4 => *word = [0; 4],
                Some(_) | None => bytes.fill(0),
            }
        }
    }
}

fn immediate_value(code: &[u8], field: &Range<usize>) -> u64 {
    if field.len() == 4
        && let Some(word) = code.get(field.start..).and_then(<[u8]>::first_chunk::<4>)
    {
        return u64::from(u32::from_le_bytes(*word));
    }
    let mut value = [0u8; 8];
    if let Some(bytes) = code.get(field.clone()) {
        value[..bytes.len()].copy_from_slice(bytes);
    }
    u64::from_le_bytes(value)
}

/// Words that are addresses of the file itself; the loader or the linker filled them in.
fn mask_addresses(layout: &Layout<'_>, data: &mut [u8]) {
    for word in data.chunks_exact_mut(8) {
        let value = u64::from_le_bytes((&*word).try_into().expect("eight bytes"));
        if value != 0 && layout.addresses.contains(&value) {
            word.fill(0);
        }
    }
}

/// Branches, page addresses, and the offsets that follow a page address in the same register.
fn mask_aarch64(code: &mut [u8]) {
    let mut pages: u32 = 0;
    for word in code.chunks_exact_mut(4) {
        let instruction = u32::from_le_bytes((&*word).try_into().expect("four bytes"));
        let (target, base) = (instruction & 0x1f, instruction >> 5 & 0x1f);
        let is_offset = matches!(instruction >> 24, 0x91 | 0x11) || instruction & 0x3b00_0000 == 0x3900_0000;
        let masked = if instruction & 0x7c00_0000 == 0x1400_0000 {
            instruction & 0xfc00_0000
        } else if instruction & 0x1f00_0000 == 0x1000_0000 {
            pages |= 1 << target;
            instruction & 0x9f00_001f
        } else if is_offset && pages & 1 << base != 0 {
            instruction & !0x003f_fc00
        } else {
            instruction
        };
        word.copy_from_slice(&masked.to_le_bytes());
    }
}
