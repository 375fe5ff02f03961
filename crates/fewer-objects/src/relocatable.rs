//! A plain, checked view of one ELF64 file: sections, symbols, relocations. Never panics on foreign bytes.
//! What the parts mean to fewer is decided in the readers.

use object::elf;
use object::read::SectionIndex;
use object::read::elf::{FileHeader, Rel, SectionHeader, Sym};
use object::{I64, LittleEndian as LE, U64};

/// The instruction sets whose relocations are understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    X86_64,
    Aarch64,
}

/// What kind of ELF file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// An object file, before linking.
    Relocatable,
    /// A program or a shared library.
    Image,
}

/// A section's name where it lies in the table of names, up to the table's end. Most are only asked how they begin: how
/// long one is, is found out when somebody wants all of it.
#[derive(Clone, Copy, Debug)]
pub struct SectionName<'d>(&'d [u8]);

impl<'d> SectionName<'d> {
    /// Without the end of the name.
    pub fn bytes(self) -> &'d [u8] {
        memchr::memchr(0, self.0).map_or(b"", |end| &self.0[..end])
    }

    #[inline]
    pub fn is(self, name: &[u8]) -> bool {
        self.starts_with(name) && self.0.get(name.len()) == Some(&0)
    }

    #[inline]
    pub fn starts_with(self, start: &[u8]) -> bool {
        self.0.starts_with(start)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Section<'d> {
    /// Empty for relocations and groups that are not loaded.
    pub name: SectionName<'d>,
    pub kind: u32,
    pub flags: u64,
    pub entry_size: u64,
    pub size: u64,
    pub link: u32,
    /// Empty for sections without bytes in the file, for relocations and groups that are not loaded.
    pub data: &'d [u8],
}

impl Section<'_> {
    pub fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    pub fn is_alloc(&self) -> bool {
        self.has(SHF_ALLOC)
    }

    pub fn is_nobits(&self) -> bool {
        self.kind == SHT_NOBITS
    }
}

pub const SHF_WRITE: u64 = 1;
pub const SHF_ALLOC: u64 = 2;
pub const SHF_EXECINSTR: u64 = 4;
pub const SHF_MERGE: u64 = 0x10;
pub const SHF_STRINGS: u64 = 0x20;
pub const SHF_GROUP: u64 = 0x200;
pub const SHF_TLS: u64 = 0x400;
pub const SHT_PROGBITS: u32 = 1;
pub const SHT_SYMTAB: u32 = 2;
pub const SHT_STRTAB: u32 = 3;
pub const SHT_NOTE: u32 = 7;
pub const SHT_NOBITS: u32 = 8;
pub const SHT_INIT_ARRAY: u32 = 14;
pub const SHT_FINI_ARRAY: u32 = 15;
pub const SHT_PREINIT_ARRAY: u32 = 16;
pub const SHT_GROUP: u32 = 17;
pub const SHT_SYMTAB_SHNDX: u32 = 18;
pub const SHT_RELA: u32 = 4;
pub const SHT_REL: u32 = 9;
/// Relocations in a form that is not read: its number, and the one it had on trial.
const SHT_CREL: [u32; 2] = [20, 0x4000_0014];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Undefined,
    Section(usize),
    Absolute,
    Common,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    Local,
    Global,
    Weak,
}

#[derive(Clone, Copy, Debug)]
pub struct Symbol<'d> {
    pub name: &'d [u8],
    /// Where the name begins in the file's table of them.
    pub name_start: u32,
    pub place: Place,
    pub binding: Binding,
    /// `STT_*`.
    pub kind: u8,
    pub value: u64,
    pub size: u64,
    /// Its place in the table.
    pub index: u32,
}

impl<'d> Symbol<'d> {
    /// With its name from the table of names, without its version (`@GLIBC_2.34`); local names have none.
    fn named(self, names: &'d [u8]) -> Symbol<'d> {
        let tail = match names.get(self.name_start as usize..) {
            Some(tail) if self.name_start != 0 => tail,
            Some(_) | None => return self,
        };
        let is_local = self.binding == Binding::Local;
        let end = if is_local { memchr::memchr(0, tail) } else { memchr::memchr2(0, b'@', tail) };
        Symbol { name: end.map_or(b"", |end| &tail[..end]), ..self }
    }
}

pub const STT_OBJECT: u8 = 1;
pub const STT_FUNC: u8 = 2;
pub const STT_SECTION: u8 = 3;
pub const STT_FILE: u8 = 4;
pub const STT_TLS: u8 = 6;
pub const STT_GNU_IFUNC: u8 = 10;

/// A place in a section that the linker fills with the address of a symbol, as it is in the file.
pub type Relocation = elf::Rela64<LE>;

/// What a relocation tells.
pub trait RelocationFields {
    fn of(offset: u64, kind: u32, symbol: u32, addend: i64) -> Self;
    fn offset(&self) -> u64;
    fn kind(&self) -> u32;
    fn symbol(&self) -> u32;
    /// 0 for targets that keep the addend in place: there it is part of the section's bytes.
    fn addend(&self) -> i64;
}

impl RelocationFields for Relocation {
    fn of(offset: u64, kind: u32, symbol: u32, addend: i64) -> Relocation {
        let info = u64::from(symbol) << 32 | u64::from(kind);
        Relocation {
            r_offset: U64::new(LE, offset),
            r_info: U64::new(LE, info),
            r_addend: I64::new(LE, addend),
        }
    }

    fn offset(&self) -> u64 {
        self.r_offset.get(LE)
    }

    fn kind(&self) -> u32 {
        self.r_type(LE, false).0
    }

    fn symbol(&self) -> u32 {
        self.r_sym(LE, false)
    }

    fn addend(&self) -> i64 {
        self.r_addend.get(LE)
    }
}

/// One parsed file.
pub struct ElfFile<'d> {
    pub machine: Machine,
    pub sections: Vec<Section<'d>>,
    pub symbols: Vec<Symbol<'d>>,
    /// The names of the symbols.
    pub symbol_names: &'d [u8],
    /// The names of the sections.
    pub section_names: &'d [u8],
    /// Per section.
    relocations: Vec<Relocations<'d>>,
    /// Those that are not in the file as they are needed.
    made: Vec<Relocation>,
}

/// The relocations that apply to a section, sorted by offset.
#[derive(Clone)]
enum Relocations<'d> {
    OfFile(&'d [Relocation]),
    /// A part of the made ones: put in order, put together, or of another form in the file.
    Made(std::ops::Range<usize>),
}

impl Relocations<'_> {
    const NONE: Relocations<'static> = Relocations::OfFile(&[]);
}

/// Why a file cannot be read. The caller knows which file.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    #[error("it is not a 64-bit little-endian ELF file")]
    Unsupported,
    #[error("its machine type {0} is not one that fewer reads (x86-64, AArch64)")]
    Machine(u16),
    #[error("its relocations are written in a form that fewer does not read (CREL)")]
    CompactRelocations,
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<object::read::Error> for ElfError {
    fn from(error: object::read::Error) -> ElfError {
        ElfError::Damaged(error.to_string())
    }
}

type Header = elf::FileHeader64<LE>;

/// Parts of a file may lie within each other (a name that is the end of another), but not so often that reading all of
/// them takes many times the file.
pub const MOST_OVERLAP: usize = 16;

/// The machine and kind by the header alone; `None` if it is no ELF file that fewer reads.
pub fn peek(bytes: &[u8]) -> Option<FileKind> {
    if bytes.len() < 64 || &bytes[..4] != b"\x7fELF" {
        return None;
    }
    match u16::from_le_bytes([bytes[16], bytes[17]]) {
        1 => Some(FileKind::Relocatable),
        2 | 3 => Some(FileKind::Image),
        _ => None,
    }
}

impl<'d> ElfFile<'d> {
    pub fn parse(bytes: &'d [u8]) -> Result<ElfFile<'d>, ElfError> {
        let (machine, table, names) = ElfFile::tables(bytes)?;
        let sections = read_sections(&table, names, bytes);
        let (symbols, symbol_names) = read_symbols(&table, bytes)?;
        let (relocations, made) = match peek(bytes).ok_or(ElfError::Unsupported)? {
            FileKind::Relocatable => read_relocations(&table, &sections, bytes)?,
            FileKind::Image => (Vec::new(), Vec::new()),
        };
        Ok(ElfFile { machine, sections, symbols, symbol_names, section_names: names, relocations, made })
    }

    /// The relocations that apply to a section, sorted by offset.
    pub fn relocations(&self, section: usize) -> &[Relocation] {
        match self.relocations.get(section) {
            Some(Relocations::OfFile(list)) => list,
            Some(Relocations::Made(range)) => &self.made[range.clone()],
            None => &[],
        }
    }

    /// A linked file's sections, and its symbols one by one: nothing is kept of them. How many there are is told
    /// first. Which of them are wanted is asked before their names are read.
    pub fn parse_image<T>(
        bytes: &'d [u8],
        begin: impl FnOnce(usize) -> T,
        is_wanted: impl Fn(&[Section<'d>], &Symbol<'d>) -> bool,
        mut take: impl FnMut(&mut T, Symbol<'d>),
    ) -> Result<(ElfFile<'d>, T), ElfError> {
        let (machine, table, names) = ElfFile::tables(bytes)?;
        let sections = read_sections(&table, names, bytes);
        let mut taken = begin(table.symbols(LE, bytes, elf::SHT_SYMTAB)?.len());
        for_each_symbol(&table, bytes, |symbol, names| {
            if !is_wanted(&sections, &symbol) {
                return 0;
            }
            let symbol = symbol.named(names);
            take(&mut taken, symbol);
            symbol.name.len()
        })?;
        Ok((ElfFile::of_sections(machine, sections, names), taken))
    }

    /// A linked file's sections alone.
    pub fn parse_sections(bytes: &'d [u8]) -> Result<ElfFile<'d>, ElfError> {
        let (machine, table, names) = ElfFile::tables(bytes)?;
        Ok(ElfFile::of_sections(machine, read_sections(&table, names, bytes), names))
    }

    fn of_sections(machine: Machine, sections: Vec<Section<'d>>, section_names: &'d [u8]) -> ElfFile<'d> {
        ElfFile {
            machine,
            sections,
            symbols: Vec::new(),
            symbol_names: b"",
            section_names,
            relocations: Vec::new(),
            made: Vec::new(),
        }
    }

    /// The sections, and where their names are.
    fn tables(bytes: &'d [u8]) -> Result<(Machine, Sections<'d>, &'d [u8]), ElfError> {
        let header = Header::parse(bytes).map_err(|_| ElfError::Unsupported)?;
        header.endian().map_err(|_| ElfError::Unsupported)?;
        let machine = match header.e_machine(LE).0 {
            62 => Machine::X86_64,
            183 => Machine::Aarch64,
            other => return Err(ElfError::Machine(other)),
        };
        let kind = peek(bytes).ok_or(ElfError::Unsupported)?;
        let table = header.sections(LE, bytes)?;
        let names = match (header.shstrndx(LE, bytes), kind) {
            (Ok(names), _) => names,
            // A program may have been rid of its sections.
            (Err(_), FileKind::Image) => 0,
            (Err(error), FileKind::Relocatable) => return Err(error.into()),
        };
        let names = table.section(SectionIndex(names as usize));
        let names = names.and_then(|section| section.data(LE, bytes)).unwrap_or(b"");
        let ended = memchr::memrchr(0, names).map_or(0, |last| last + 1);
        Ok((machine, table, &names[..ended]))
    }

    pub fn section_named<const LENGTH: usize>(&self, name: &[u8; LENGTH]) -> Option<&Section<'d>> {
        self.sections.iter().find(|section| section.name.is(name))
    }
}

type Sections<'d> = object::read::elf::SectionTable<'d, Header>;

fn read_sections<'d>(table: &Sections<'d>, names: &'d [u8], bytes: &'d [u8]) -> Vec<Section<'d>> {
    let read = |section: &elf::SectionHeader64<LE>| {
        let kind = section.sh_type(LE).0;
        let flags = section.sh_flags(LE).0;
        // Most sections are relocations and groups, which nobody asks for by section. What is loaded is data, whatever
        // it calls itself.
        let is_asked_for = flags & SHF_ALLOC != 0 || !matches!(kind, SHT_RELA | SHT_REL | SHT_GROUP);
        let name = || names.get(section.sh_name.get(LE) as usize..).unwrap_or(b"");
        let data = || section.data(LE, bytes).unwrap_or(b"");
        Section {
            name: SectionName(if is_asked_for { name() } else { b"" }),
            kind,
            flags,
            entry_size: section.sh_entsize(LE),
            size: section.sh_size(LE),
            link: section.sh_link(LE),
            data: if is_asked_for { data() } else { b"" },
        }
    };
    table.iter().map(read).collect()
}

/// The symbols, and the table of their names.
fn read_symbols<'d>(table: &Sections<'d>, bytes: &'d [u8]) -> Result<(Vec<Symbol<'d>>, &'d [u8]), ElfError> {
    let count = table.symbols(LE, bytes, elf::SHT_SYMTAB)?.len();
    let mut symbols = Vec::with_capacity(count);
    let names = for_each_symbol(table, bytes, |symbol, names| {
        let symbol = symbol.named(names);
        symbols.push(symbol);
        symbol.name.len()
    })?;
    Ok((symbols, names))
}

/// Gives every entry of the symbol table to `take`, in order and yet without its name, with the table of their names;
/// `take` tells how long a name it took. Gives back the table.
fn for_each_symbol<'d>(
    table: &Sections<'d>,
    bytes: &'d [u8],
    mut take: impl FnMut(Symbol<'d>, &'d [u8]) -> usize,
) -> Result<&'d [u8], ElfError> {
    let symbols = table.symbols(LE, bytes, elf::SHT_SYMTAB)?;
    let names = table.section(symbols.string_section());
    let names = names.and_then(|section| section.data(LE, bytes)).unwrap_or(b"");
    let mut taken = 0;
    for (index, symbol) in symbols.enumerate() {
        let binding = match symbol.st_bind().0 {
            0 => Binding::Local,
            2 => Binding::Weak,
            _ => Binding::Global,
        };
        let place = match symbol.st_shndx(LE).0 {
            0 => Place::Undefined,
            0xfff1 => Place::Absolute,
            0xfff2 => Place::Common,
            0xffff => Place::Section(symbols.shndx(LE, index).unwrap_or(0) as usize),
            section => Place::Section(section as usize),
        };
        let place = match place {
            Place::Section(section) if section == 0 || section >= table.len() => Place::Undefined,
            other => other,
        };
        let symbol = Symbol {
            name: b"",
            name_start: symbol.st_name(LE),
            place,
            binding,
            kind: symbol.st_type().0,
            value: symbol.st_value(LE),
            size: symbol.st_size(LE),
            index: index.0 as u32,
        };
        taken += take(symbol, names);
        if taken > bytes.len().saturating_mul(MOST_OVERLAP) {
            return Err(ElfError::Damaged("the names of its symbols overlap".to_string()));
        }
    }
    Ok(names)
}

/// Per section its relocations, and those that had to be made for it.
fn read_relocations<'d>(
    table: &Sections<'d>,
    sections: &[Section<'d>],
    bytes: &'d [u8],
) -> Result<(Vec<Relocations<'d>>, Vec<Relocation>), ElfError> {
    let mut read = vec![Relocations::NONE; sections.len()];
    let mut made: Vec<Relocation> = Vec::new();
    for header in table.iter() {
        let kind = header.sh_type(LE).0;
        if SHT_CREL.contains(&kind) {
            return Err(ElfError::CompactRelocations);
        }
        if kind != SHT_RELA && kind != SHT_REL {
            continue;
        }
        let target = header.sh_info(LE) as usize;
        // Debug sections are never read, so neither are their (many) relocations.
        if sections.get(target).is_none_or(|section| !section.is_alloc()) {
            continue;
        }
        let with_addends = header.rela(LE, bytes)?.map_or(&[][..], |(entries, _)| entries);
        let without_addends = header.rel(LE, bytes)?.map_or(&[][..], |(entries, _)| entries);
        let order = |relocation: &Relocation| (relocation.offset(), relocation.kind());
        let is_first = matches!(read[target], Relocations::OfFile([]));
        if is_first && without_addends.is_empty() && with_addends.is_sorted_by_key(order) {
            read[target] = Relocations::OfFile(with_addends);
            continue;
        }
        // A second table for the same section continues the first.
        let start = made.len();
        match read[target].clone() {
            Relocations::OfFile(before) => made.extend_from_slice(before),
            Relocations::Made(before) => made.extend_from_within(before),
        }
        made.extend_from_slice(with_addends);
        made.extend(
            without_addends
                .iter()
                .map(|entry| Relocation::of(entry.r_offset(LE), entry.r_type(LE).0, entry.r_sym(LE), 0)),
        );
        if made.len() > bytes.len() / size_of::<Relocation>() * MOST_OVERLAP {
            return Err(ElfError::Damaged("its tables of relocations overlap".to_string()));
        }
        made[start..].sort_by_key(order);
        read[target] = Relocations::Made(start..made.len());
    }
    Ok((read, made))
}

/// Where a section lies, in the file and in memory.
pub struct SectionPlace<'d> {
    pub name: &'d [u8],
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    /// In memory.
    pub size: u64,
    pub link: u32,
    /// In the file; empty if it has no bytes there.
    pub range: std::ops::Range<usize>,
}

/// The relocations that some bytes of a file are, if they can be.
pub fn relocations_at(bytes: &[u8], range: std::ops::Range<usize>) -> &[Relocation] {
    let entries = bytes.get(range).and_then(|bytes| object::pod::slice_from_all_bytes(bytes).ok());
    entries.unwrap_or(&[])
}

/// Where each section lies, without reading any; `None` for a file that is not well-formed ELF.
pub fn section_places(bytes: &[u8]) -> Option<Vec<SectionPlace<'_>>> {
    let header = Header::parse(bytes).ok()?;
    header.endian().ok()?;
    let table = header.sections(LE, bytes).ok()?;
    let mut places = Vec::with_capacity(table.len());
    for section in table.iter() {
        let (offset, size) = section.file_range(LE).unwrap_or((0, 0));
        let end = offset.checked_add(size)?;
        places.push(SectionPlace {
            name: table.section_name(LE, section).unwrap_or(b""),
            kind: section.sh_type(LE).0,
            flags: section.sh_flags(LE).0,
            address: section.sh_addr(LE),
            size: section.sh_size(LE),
            link: section.sh_link(LE),
            range: offset as usize..end as usize,
        });
    }
    Some(places)
}
