//! A plain, checked view of one ELF64 file: sections, symbols, relocations. Never panics on foreign bytes.
//! What the parts mean to fewer is decided in the readers.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, Sym};

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

#[derive(Clone, Copy, Debug)]
pub struct Section<'d> {
    /// Empty for relocations and groups, unless they are part of the program.
    pub name: &'d [u8],
    pub kind: u32,
    pub flags: u64,
    pub entry_size: u64,
    pub size: u64,
    pub link: u32,
    /// Empty for sections without bytes in the file.
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
    pub place: Place,
    pub binding: Binding,
    /// `STT_*`.
    pub kind: u8,
    pub value: u64,
    pub size: u64,
    /// Its place in the table.
    pub index: u32,
}

pub const STT_OBJECT: u8 = 1;
pub const STT_FUNC: u8 = 2;
pub const STT_SECTION: u8 = 3;
pub const STT_FILE: u8 = 4;
pub const STT_TLS: u8 = 6;
pub const STT_GNU_IFUNC: u8 = 10;

/// A place in a section that the linker fills with the address of a symbol.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    pub offset: u64,
    pub kind: u32,
    pub symbol: u32,
    /// 0 for targets that keep the addend in place: there it is part of the section's bytes.
    pub addend: i64,
}

/// One parsed file.
pub struct ElfFile<'d> {
    pub machine: Machine,
    pub sections: Vec<Section<'d>>,
    pub symbols: Vec<Symbol<'d>>,
    relocations: Relocations,
}

/// All relocations of a file in one list, with the part of each section.
#[derive(Default)]
struct Relocations {
    list: Vec<Relocation>,
    ranges: Vec<std::ops::Range<usize>>,
}

/// Why a file cannot be read. The caller knows which file.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    #[error("it is not a 64-bit little-endian ELF file")]
    Unsupported,
    #[error("its machine type {0} is not one that fewer reads (x86-64, AArch64)")]
    Machine(u16),
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<object::read::Error> for ElfError {
    fn from(error: object::read::Error) -> ElfError {
        ElfError::Damaged(error.to_string())
    }
}

type Header = elf::FileHeader64<LE>;

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
        let (machine, table) = ElfFile::tables(bytes)?;
        let sections = read_sections(&table, bytes);
        let symbols = read_symbols(&table, bytes)?;
        let relocations = match peek(bytes).ok_or(ElfError::Unsupported)? {
            FileKind::Relocatable => read_relocations(&table, &sections, bytes)?,
            FileKind::Image => Relocations { list: Vec::new(), ranges: vec![0..0; sections.len()] },
        };
        Ok(ElfFile { machine, sections, symbols, relocations })
    }

    /// The relocations that apply to a section, sorted by offset.
    pub fn relocations(&self, section: usize) -> &[Relocation] {
        &self.relocations.list[self.relocations.ranges[section].clone()]
    }

    /// A linked file's sections, and its symbols one by one: nothing is kept of them. How many there are is told
    /// first.
    pub fn parse_image<T>(
        bytes: &'d [u8],
        begin: impl FnOnce(usize) -> T,
        mut take: impl FnMut(&[Section<'d>], &mut T, Symbol<'d>),
    ) -> Result<(ElfFile<'d>, T), ElfError> {
        let (machine, table) = ElfFile::tables(bytes)?;
        let sections = read_sections(&table, bytes);
        let mut taken = begin(table.symbols(LE, bytes, elf::SHT_SYMTAB)?.len());
        for_each_symbol(&table, bytes, |symbol| take(&sections, &mut taken, symbol))?;
        Ok((ElfFile::without_symbols(machine, sections), taken))
    }

    /// A linked file's sections alone.
    pub fn parse_sections(bytes: &'d [u8]) -> Result<ElfFile<'d>, ElfError> {
        let (machine, table) = ElfFile::tables(bytes)?;
        Ok(ElfFile::without_symbols(machine, read_sections(&table, bytes)))
    }

    fn without_symbols(machine: Machine, sections: Vec<Section<'d>>) -> ElfFile<'d> {
        let relocations = Relocations { list: Vec::new(), ranges: vec![0..0; sections.len()] };
        ElfFile { machine, sections, symbols: Vec::new(), relocations }
    }

    fn tables(bytes: &'d [u8]) -> Result<(Machine, Sections<'d>), ElfError> {
        let header = Header::parse(bytes).map_err(|_| ElfError::Unsupported)?;
        header.endian().map_err(|_| ElfError::Unsupported)?;
        let machine = match header.e_machine(LE).0 {
            62 => Machine::X86_64,
            183 => Machine::Aarch64,
            other => return Err(ElfError::Machine(other)),
        };
        peek(bytes).ok_or(ElfError::Unsupported)?;
        Ok((machine, header.sections(LE, bytes)?))
    }

    pub fn section_named(&self, name: &[u8]) -> Option<&Section<'d>> {
        self.sections.iter().find(|section| section.name == name)
    }
}

type Sections<'d> = object::read::elf::SectionTable<'d, Header>;

fn read_sections<'d>(table: &Sections<'d>, bytes: &'d [u8]) -> Vec<Section<'d>> {
    // Nobody asks for the names of relocations and groups, which are most of the sections.
    let name = |section: &elf::SectionHeader64<LE>| match section.sh_type(LE).0 {
        SHT_RELA | SHT_REL | SHT_GROUP if section.sh_flags(LE).0 & SHF_ALLOC == 0 => &b""[..],
        _ => table.section_name(LE, section).unwrap_or(b""),
    };
    let read = |section: &elf::SectionHeader64<LE>| Section {
        name: name(section),
        kind: section.sh_type(LE).0,
        flags: section.sh_flags(LE).0,
        entry_size: section.sh_entsize(LE),
        size: section.sh_size(LE),
        link: section.sh_link(LE),
        data: section.data(LE, bytes).unwrap_or(b""),
    };
    table.iter().map(read).collect()
}

fn read_symbols<'d>(table: &Sections<'d>, bytes: &'d [u8]) -> Result<Vec<Symbol<'d>>, ElfError> {
    let symbols = table.symbols(LE, bytes, elf::SHT_SYMTAB)?;
    let mut read = Vec::with_capacity(symbols.len());
    for_each_symbol(table, bytes, |symbol| read.push(symbol))?;
    Ok(read)
}

/// Gives every entry of the symbol table to `take`, in order.
fn for_each_symbol<'d>(
    table: &Sections<'d>,
    bytes: &'d [u8],
    mut take: impl FnMut(Symbol<'d>),
) -> Result<(), ElfError> {
    let symbols = table.symbols(LE, bytes, elf::SHT_SYMTAB)?;
    let strings = match table.section(symbols.string_section()) {
        Ok(section) => section.data(LE, bytes).unwrap_or(b""),
        Err(_) => b"",
    };
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
        take(Symbol {
            name: symbol_name(strings, symbol.st_name(LE), binding),
            place,
            binding,
            kind: symbol.st_type().0,
            value: symbol.st_value(LE),
            size: symbol.st_size(LE),
            index: index.0 as u32,
        });
    }
    Ok(())
}

/// The name at a place of the string table, without its version (`@GLIBC_2.34`); local names have none.
fn symbol_name(strings: &[u8], offset: u32, binding: Binding) -> &[u8] {
    let tail = match strings.get(offset as usize..) {
        Some(tail) if offset != 0 => tail,
        Some(_) | None => return b"",
    };
    let is_local = binding == Binding::Local;
    let end = if is_local { memchr::memchr(0, tail) } else { memchr::memchr2(0, b'@', tail) };
    match end {
        Some(end) => &tail[..end],
        None => b"",
    }
}

fn read_relocations(
    table: &Sections<'_>,
    sections: &[Section<'_>],
    bytes: &[u8],
) -> Result<Relocations, ElfError> {
    let mut read = Relocations { list: Vec::new(), ranges: vec![0..0; sections.len()] };
    for header in table.iter() {
        let kind = header.sh_type(LE).0;
        if kind != SHT_RELA && kind != SHT_REL {
            continue;
        }
        let target = header.sh_info(LE) as usize;
        // Debug sections are never read, so neither are their (many) relocations.
        if sections.get(target).is_none_or(|section| !section.is_alloc()) {
            continue;
        }
        // A second table for the same section continues the first.
        let start = read.list.len();
        read.list.extend_from_within(read.ranges[target].clone());
        if let Some((entries, _)) = header.rela(LE, bytes)? {
            read.list.extend(entries.iter().map(|entry| Relocation {
                offset: entry.r_offset.get(LE),
                kind: entry.r_type(LE, false).0,
                symbol: entry.r_sym(LE, false),
                addend: entry.r_addend.get(LE),
            }));
        }
        if let Some((entries, _)) = header.rel(LE, bytes)? {
            use object::read::elf::Rel;
            read.list.extend(entries.iter().map(|entry| Relocation {
                offset: entry.r_offset(LE),
                kind: entry.r_type(LE).0,
                symbol: entry.r_sym(LE),
                addend: 0,
            }));
        }
        let list = &mut read.list[start..];
        if !list.is_sorted_by_key(|relocation| (relocation.offset, relocation.kind)) {
            list.sort_by_key(|relocation| (relocation.offset, relocation.kind));
        }
        read.ranges[target] = start..read.list.len();
    }
    Ok(read)
}

/// Where a section lies, in the file and in memory.
pub struct SectionPlace<'d> {
    pub name: &'d [u8],
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub range: std::ops::Range<usize>,
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
            range: offset as usize..end as usize,
        });
    }
    Some(places)
}
