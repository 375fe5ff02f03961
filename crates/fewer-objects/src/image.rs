//! Linked files: test executables, other programs and shared libraries. What they need, which symbols they
//! hold, and whether GoogleTest is in them. Their code is read from objects; see `foreign` for what is left.

use fewer_core::{Digest, DigestBuilder, Domain, Lazy};

use crate::encoding::{Reader, Writer};
use crate::file_bytes::SHT_DIGEST;
use crate::relocatable::*;
use crate::summary::NameKey;
use crate::symbol_names::is_counter;

const IMAGE_VERSION: u32 = 5;
const IMAGE: Domain = Domain::new("image.summary");
const SHAPE: Domain = Domain::new("image.shape");
/// GoogleTest's runner: a program that has it is a test program.
pub const TEST_RUNNER: &[u8] = b"_ZN7testing8UnitTest3RunEv";
/// What every test registers itself with: a program that imports it is a test program, wherever the runner is.
const REGISTRATION: &[u8] = b"_ZN7testing8internal23MakeAndRegisterTestInfo";
/// The end of the name of what a test keeps of its registration.
const TEST_INFO: &[u8] = b"10test_info_E";
const LIST_FLAG: &[u8] = b"gtest_list_tests";

const DT_NEEDED: u64 = 1;
const DT_SONAME: u64 = 14;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;
const DT_FLAGS_1: u64 = 0x6fff_fffb;
/// A program, although it can be loaded anywhere.
const DF_1_PIE: u64 = 0x0800_0000;

/// A symbol of a linked file that stands for code or data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageSymbol {
    pub key: NameKey,
    pub size: u32,
    pub entry: TableEntry,
}

/// The place of a symbol in the symbol table, and whether other files can see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableEntry(u32);

impl TableEntry {
    const GLOBAL: u32 = 1 << 31;

    fn new(index: u32, is_global: bool) -> TableEntry {
        TableEntry(index & !TableEntry::GLOBAL | if is_global { TableEntry::GLOBAL } else { 0 })
    }

    pub fn is_global(self) -> bool {
        self.0 & TableEntry::GLOBAL != 0
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn of_bits(bits: u32) -> TableEntry {
        TableEntry(bits)
    }

    pub(crate) fn index(self) -> usize {
        (self.0 & !TableEntry::GLOBAL) as usize
    }

    fn word(self, table: &[u8], at: usize) -> Option<u64> {
        let entry = table.chunks_exact(ENTRY).nth(self.index())?;
        Some(u64::from_le_bytes(entry.get(at..at + 8)?.try_into().ok()?))
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImageSummary {
    pub is_library: bool,
    pub soname: String,
    pub needed: Vec<String>,
    /// Where the loader looks for libraries first.
    pub run_path: Vec<String>,
    /// In the order of the file. They tell what is in the file and are not part of the stored form.
    pub symbols: Lazy<Vec<ImageSymbol>>,
    /// Whether the file was linked without symbols, or they were taken out of it.
    pub is_stripped: bool,
    pub has_googletest: bool,
    /// Whether tests of GoogleTest are in the file itself.
    pub holds_tests: bool,
    pub note: Option<String>,
}

/// Reads a linked file. One that cannot be understood is an image without symbols, with a note.
pub fn read_image(bytes: &[u8]) -> ImageSummary {
    let begin = |count| (count, Vec::with_capacity(count), (false, false));
    let read =
        ElfFile::parse_image(bytes, begin, can_run, |(_, symbols, (has_runner, holds_tests)), symbol| {
            *has_runner |= symbol.name == TEST_RUNNER;
            *holds_tests |= symbol.name.ends_with(TEST_INFO);
            symbols.extend(image_symbol(&symbol));
        });
    match read {
        Ok((file, _)) if file.sections.is_empty() => ImageSummary {
            note: Some(
                "it has no table of sections, so it cannot be seen whether it holds tests".to_string(),
            ),
            ..ImageSummary::default()
        },
        Ok((file, (count, symbols, (has_runner, holds_tests)))) => {
            let mut summary = read_facts(&file);
            summary.has_googletest = has_runner || mentions_googletest(&file, count <= 1);
            summary.holds_tests = holds_tests || imports(&file, TEST_INFO);
            summary.is_stripped = symbols.is_empty();
            summary.symbols = symbols.into();
            summary
        }
        Err(error) => {
            ImageSummary { note: Some(error.to_string()), is_stripped: true, ..ImageSummary::default() }
        }
    }
}

/// What a linked file says of itself besides its symbols.
fn read_facts(file: &ElfFile<'_>) -> ImageSummary {
    let mut summary = ImageSummary { is_library: is_library(file), ..ImageSummary::default() };
    read_dynamic(file, &mut summary);
    summary
}

/// Whether a symbol stands for code or data. What is not loaded is nothing that runs. Example: clang's tables of which
/// lines belong to which counter.
fn can_run(sections: &[Section<'_>], symbol: &Symbol<'_>) -> bool {
    let Place::Section(section) = symbol.place else { return false };
    matches!(symbol.kind, STT_FUNC | STT_OBJECT | STT_TLS | STT_GNU_IFUNC)
        && sections.get(section).is_some_and(Section::is_alloc)
}

/// A symbol that is neither a compiler's counter nor made up by the linker.
fn image_symbol(symbol: &Symbol<'_>) -> Option<ImageSymbol> {
    let is_local = symbol.binding == Binding::Local;
    if (is_local && is_counter(symbol.name)) || is_of_linker(symbol.name) {
        return None;
    }
    Some(ImageSymbol {
        key: NameKey::of(symbol.name),
        size: clamped(symbol.size),
        entry: TableEntry::new(symbol.index, !is_local),
    })
}

fn clamped(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// A name that a linker made up. Example: `rand$plt`. Rust's own names have a `$` too, but a hash behind it.
fn is_of_linker(name: &[u8]) -> bool {
    name.iter().rfind(|byte| !byte.is_ascii_lowercase()) == Some(&b'$')
}

/// A shared library has no interpreter; a position-independent program does, unless it is linked statically: that one
/// says what it is among its dynamic flags.
fn is_library(file: &ElfFile<'_>) -> bool {
    file.section_named(b".interp").is_none() && file.section_named(b".dynsym").is_some()
}

/// The file imports GoogleTest from a shared library, or has been stripped but carries its flag's name.
fn mentions_googletest(file: &ElfFile<'_>, is_stripped: bool) -> bool {
    imports(file, TEST_RUNNER)
        || imports(file, REGISTRATION)
        || (is_stripped
            && file
                .section_named(b".rodata")
                .is_some_and(|section| section.kind == SHT_DIGEST || has_part(section.data, LIST_FLAG)))
}

/// Whether a name that other files can see, or are to bring, has such a part.
fn imports(file: &ElfFile<'_>, part: &[u8]) -> bool {
    file.section_named(b".dynstr").is_some_and(|section| has_part(section.data, part))
}

fn has_part(data: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(data, part).is_some()
}

fn read_dynamic(file: &ElfFile<'_>, summary: &mut ImageSummary) {
    let Some(dynamic) = file.section_named(b".dynamic") else { return };
    let strings = file.sections.get(dynamic.link as usize).map_or(&b""[..], |section| section.data);
    let text = |offset: u64| -> String {
        let tail = strings.get(offset as usize..).unwrap_or(b"");
        let end = tail.iter().position(|&byte| byte == 0).unwrap_or(tail.len());
        String::from_utf8_lossy(&tail[..end]).into_owned()
    };
    for entry in dynamic.data.chunks_exact(16) {
        let word = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().expect("eight bytes"));
        match word(0) {
            DT_NEEDED => summary.needed.push(text(word(8))),
            DT_SONAME => summary.soname = text(word(8)),
            DT_FLAGS_1 if word(8) & DF_1_PIE != 0 => summary.is_library = false,
            DT_RPATH | DT_RUNPATH => {
                summary.run_path.extend(text(word(8)).split(':').map(str::to_string));
            }
            _ => {}
        }
    }
}

impl ImageSummary {
    pub fn is_stripped(&self) -> bool {
        self.is_stripped
    }

    /// The stored form, which leaves out the symbols; with the key it is kept under.
    pub fn encode(&self) -> (Digest, Vec<u8>) {
        let mut out = Writer(Vec::new());
        out.word(IMAGE_VERSION);
        out.word(
            self.is_library as u32
                | (self.has_googletest as u32) << 1
                | (self.note.is_some() as u32) << 2
                | (self.is_stripped as u32) << 3
                | (self.holds_tests as u32) << 4,
        );
        out.bytes(self.soname.as_bytes());
        out.bytes(self.note.as_deref().unwrap_or("").as_bytes());
        for list in [&self.needed, &self.run_path] {
            out.word(list.len() as u32);
            list.iter().for_each(|item| out.bytes(item.as_bytes()));
        }
        out.sealed(IMAGE)
    }

    pub fn decode(bytes: &[u8]) -> Option<ImageSummary> {
        let mut input = Reader::unsealed(IMAGE, bytes)?;
        if input.word()? != IMAGE_VERSION {
            return None;
        }
        let bits = input.word()?;
        let text = |input: &mut Reader<'_>| String::from_utf8(input.bytes()?.to_vec()).ok();
        let soname = text(&mut input)?;
        let note = text(&mut input)?;
        let needed = input.list(4, text)?;
        let run_path = input.list(4, text)?;
        input.0.is_empty().then_some(ImageSummary {
            is_library: bits & 1 != 0,
            has_googletest: bits & 2 != 0,
            note: (bits & 4 != 0).then_some(note),
            is_stripped: bits & 8 != 0,
            holds_tests: bits & 16 != 0,
            soname,
            needed,
            run_path,
            symbols: Lazy::default(),
        })
    }
}

/// A linked file of which only the sizes of symbols are asked.
pub struct SymbolTable<'d> {
    file: ElfFile<'d>,
    entries: &'d [u8],
}

/// Bytes of an entry of the symbol table; of those the first eight tell all but address and size.
const ENTRY: usize = 24;
const NAME_AND_KIND: usize = 8;

impl<'d> SymbolTable<'d> {
    /// `None` for a file that is not well-formed or has no symbols.
    pub fn of(bytes: &'d [u8]) -> Option<SymbolTable<'d>> {
        let file = ElfFile::parse_sections(bytes).ok()?;
        let entries = file.sections.iter().find(|section| section.kind == SHT_SYMTAB)?.data;
        (!entries.is_empty()).then_some(SymbolTable { file, entries })
    }

    /// Everything that the summary of the file follows from, but for the sizes and addresses of its symbols. As long
    /// as it stays the same, so do the symbols in their order.
    pub fn shape(&self) -> Digest {
        let mut shape = DigestBuilder::new(SHAPE);
        for section in &self.file.sections {
            shape.bytes(section.name.bytes()).number(section.kind as u64).number(section.flags);
            shape.number(section.link as u64);
            if section.kind == SHT_STRTAB || section.kind == SHT_SYMTAB_SHNDX {
                shape.number(section.data.len() as u64).digest(Digest::of(SHAPE, section.data));
            }
        }
        let mut entries = Vec::with_capacity(self.entries.len() / ENTRY * NAME_AND_KIND);
        for entry in self.entries.chunks_exact(ENTRY) {
            entries.extend_from_slice(&entry[..NAME_AND_KIND]);
        }
        shape.number(self.entries.len() as u64).digest(Digest::of(SHAPE, &entries));
        let (_, facts) = read_facts(&self.file).encode();
        shape.bytes(&facts).finish()
    }

    pub fn size(&self, entry: TableEntry) -> Option<u32> {
        Some(clamped(entry.word(self.entries, 16)?))
    }
}
