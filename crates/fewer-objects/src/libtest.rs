//! Rust's own test harness: the descriptor that the compiler writes for every `#[test]`, read from the object that
//! holds the harness's `main`. Which tests exist is told by the program itself, and how objects come together by
//! the linker.

use std::ops::Range;

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::encoding::{Reader, Writer};
use crate::relocatable::{Binding, ElfFile, Place, Relocation, RelocationFields, STT_FUNC, Symbol};

/// The kind under which lists of such tests are recorded.
pub const HARNESS_KIND: &str = "libtest-listing";

const ATTRIBUTES: Domain = Domain::new("libtest.attributes");
const HARNESS_VERSION: u32 = 1;

/// What the harness's `main` hands the descriptors to, in both manglings.
const RUNNER: &[u8] = b"4test16test_main_static";

/// Beyond any line or column of a source file.
const LARGEST_PLACE: u64 = 1 << 24;

/// What the compiler wrote down of one test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// The texts it refers to; one of them is its name, the others are its source file and messages.
    pub texts: Vec<String>,
    /// The symbol of the function that runs it.
    pub function: String,
    /// Whether it should panic and with which words, whether it is ignored: all but where it stands in its file.
    pub attributes: Digest,
}

/// A test of a program with Rust's harness, with where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HarnessTest {
    /// Example: `lexer::tests::skips_blanks`.
    pub name: String,
    /// The function's symbol and the object with its descriptor; `None` where the program counts as a whole.
    pub function: Option<(String, String)>,
    /// Why it always runs.
    pub cause: Option<String>,
    pub is_ignored: bool,
}

/// The descriptors of all tests of a linked program; `None` if the object does not hold its harness's `main`.
pub fn descriptors(object: &[u8], program: &[u8]) -> Option<Vec<Descriptor>> {
    memchr::memmem::find(object, RUNNER)?;
    let file = ElfFile::parse(object).ok()?;
    let (caller, list) = list_of_descriptors(&file)?;
    memchr::memmem::find(program, caller)?;
    let targets = file.relocations(list).iter().map(|relocation| section_of(&file, relocation));
    let sections: Vec<usize> = targets.collect::<Option<_>>()?;
    let place = place_in_source(&file, &sections);
    sections.iter().map(|&section| Descriptor::read(&file, section, place.as_ref())).collect()
}

/// Whether a program holds Rust's harness. One without symbols does not tell.
pub fn is_harness(program: &[u8]) -> bool {
    memchr::memmem::find(program, RUNNER).is_some()
}

/// The stored form of a program's list of tests.
pub fn encode_harness(tests: &[HarnessTest]) -> Vec<u8> {
    let mut out = Writer(Vec::new());
    out.word(HARNESS_VERSION);
    out.word(tests.len() as u32);
    for test in tests {
        let (function, object) =
            test.function.as_ref().map_or(("", ""), |(function, object)| (function, object));
        for text in [&test.name, function, object, test.cause.as_deref().unwrap_or("")] {
            out.bytes(text.as_bytes());
        }
        out.word(test.is_ignored as u32);
    }
    out.0
}

/// The inverse of [`encode_harness`]; `None` for another version or damaged bytes.
pub fn decode_harness(bytes: &[u8]) -> Option<Vec<HarnessTest>> {
    let mut input = Reader(bytes);
    if input.word()? != HARNESS_VERSION {
        return None;
    }
    let text = |input: &mut Reader<'_>| String::from_utf8(input.bytes()?.to_vec()).ok();
    input.list(20, |input| {
        let (name, function, object, cause) = (text(input)?, text(input)?, text(input)?, text(input)?);
        Some(HarnessTest {
            name,
            function: (!function.is_empty()).then_some((function, object)),
            cause: (!cause.is_empty()).then_some(cause),
            is_ignored: input.word()? != 0,
        })
    })
}

impl Descriptor {
    fn read(file: &ElfFile<'_>, section: usize, place: Option<&Range<usize>>) -> Option<Descriptor> {
        let relocations = file.relocations(section);
        let data = file.sections[section].data;
        let mut texts = Vec::new();
        let mut function = None;
        for relocation in relocations {
            match function_of(file, relocation) {
                Some(symbol) => function = Some(String::from_utf8(symbol.name.to_vec()).ok()?),
                None => texts.push(text_of(file, data, relocation)?),
            }
        }
        let mut bytes = data.to_vec();
        if let Some(place) = place {
            bytes.get_mut(place.clone())?.fill(0);
        }
        let mut digest = DigestBuilder::new(ATTRIBUTES);
        digest.bytes(&bytes);
        for relocation in relocations {
            digest.number(relocation.offset());
        }
        for text in &texts {
            digest.text(text);
        }
        Some(Descriptor { texts, function: function?, attributes: digest.finish() })
    }
}

/// The function that calls the runner, and the section with the addresses of all descriptors that it hands over.
fn list_of_descriptors<'d>(file: &ElfFile<'d>) -> Option<(&'d [u8], usize)> {
    let calls_runner = |relocation: &Relocation| {
        file.symbols
            .get(relocation.symbol() as usize)
            .is_some_and(|symbol| memchr::memmem::find(symbol.name, RUNNER).is_some())
    };
    let caller =
        (0..file.sections.len()).find(|&section| file.relocations(section).iter().any(calls_runner))?;
    let mut lists = file.relocations(caller).iter().filter_map(|relocation| section_of(file, relocation));
    let list = lists.find(|&section| {
        let size = file.sections[section].data.len();
        size > 0 && file.relocations(section).len() * 8 == size
    })?;
    let is_caller = |symbol: &&Symbol<'d>| symbol.place == Place::Section(caller) && symbol.kind == STT_FUNC;
    Some((file.symbols.iter().find(is_caller)?.name, list))
}

/// The section of the file itself that a relocation leads to.
fn section_of(file: &ElfFile<'_>, relocation: &Relocation) -> Option<usize> {
    match file.symbols.get(relocation.symbol() as usize)?.place {
        Place::Section(section) => Some(section),
        Place::Undefined | Place::Absolute | Place::Common => None,
    }
}

/// The function that a relocation leads to, under a name of its own.
fn function_of<'f, 'd>(file: &'f ElfFile<'d>, relocation: &Relocation) -> Option<&'f Symbol<'d>> {
    let symbol = file.symbols.get(relocation.symbol() as usize)?;
    match symbol.place {
        Place::Undefined => Some(symbol).filter(|symbol| symbol.binding != Binding::Local),
        Place::Section(section) => {
            file.symbols.iter().find(|other| other.place == Place::Section(section) && other.kind == STT_FUNC)
        }
        Place::Absolute | Place::Common => None,
    }
}

/// The text of a relocated address, whose length is in the word behind it.
fn text_of(file: &ElfFile<'_>, data: &[u8], relocation: &Relocation) -> Option<String> {
    let symbol = file.symbols.get(relocation.symbol() as usize)?;
    let target = file.sections[section_of(file, relocation)?].data;
    let start = usize::try_from((symbol.value as i64).checked_add(relocation.addend())?).ok()?;
    let length = word(data, relocation.offset() as usize + 8)? as usize;
    String::from_utf8(target.get(start..start.checked_add(length)?)?.to_vec()).ok()
}

/// Where descriptors say at which lines and columns their tests begin and end. The layout is the compiler's own:
/// it is told by what the words of all descriptors are, and nothing is taken for a place unless only one range can
/// be it.
fn place_in_source(file: &ElfFile<'_>, descriptors: &[usize]) -> Option<Range<usize>> {
    const WORDS: usize = 4;
    let size = file.sections[*descriptors.first()?].data.len();
    let mut fitting = (0..size / 8).map(|word| word * 8).filter(|&start| {
        let range = start..start + WORDS * 8;
        descriptors.iter().all(|&section| {
            let is_free = file
                .relocations(section)
                .iter()
                .all(|relocation| !range.contains(&(relocation.offset() as usize)));
            is_free && is_place(file.sections[section].data, start)
        })
    });
    let start = fitting.next()?;
    fitting.next().is_none().then_some(start..start + WORDS * 8)
}

/// Whether four words can be the first line and column of something, and the last ones.
fn is_place(data: &[u8], start: usize) -> bool {
    let number = |index: usize| word(data, start + index * 8).filter(|&number| number < LARGEST_PLACE);
    match (number(0), number(1), number(2), number(3)) {
        (Some(first), Some(column), Some(last), Some(end)) => {
            first > 0 && column > 0 && end > 0 && (first < last || (first == last && column < end))
        }
        _ => false,
    }
}

fn word(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(data.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tests_round_trip() {
        let tests = vec![
            HarnessTest {
                name: "a::b".into(),
                function: Some(("f".into(), "x.o".into())),
                cause: None,
                is_ignored: true,
            },
            HarnessTest { name: "c".into(), function: None, cause: Some("why".into()), is_ignored: false },
        ];
        let bytes = encode_harness(&tests);
        assert_eq!(decode_harness(&bytes), Some(tests));
        assert!((0..bytes.len()).all(|end| decode_harness(&bytes[..end]).is_none()));
    }

    #[test]
    fn a_place_begins_before_it_ends() {
        let data = |words: [u64; 4]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        assert!(is_place(&data([13, 8, 13, 14]), 0) && is_place(&data([13, 8, 20, 2]), 0));
        assert!(!is_place(&data([13, 8, 12, 14]), 0) && !is_place(&data([0, 8, 13, 14]), 0));
        assert!(!is_place(&data([13, 8, 13, 14]), 8));
    }
}
