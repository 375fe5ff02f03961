//! What fewer keeps of one object file: its elements with content digests and references, its symbols, and
//! nothing else. A summary stands for the file in every later step and is cached under the file's content.
//! The stored form is versioned, portable and checked when read.

use fewer_core::{Digest, Domain};

use crate::encoding::{Reader, Writer};
use crate::scan::Packed;
use crate::shared_text::{read_texts, write_texts};

/// Raise when the reader gives other summaries for the same bytes: cached ones are then read anew.
pub const SUMMARY_VERSION: u32 = 8;

const NAME: Domain = Domain::new("symbol.name");
const SHAPE: Domain = Domain::new("object.shape");
const SUMMARY: Domain = Domain::new("object.summary");

/// An index into a summary's elements that stands for none.
pub const NO_ELEMENT: u32 = u32::MAX;

/// The size of a symbol whose code is not made yet.
pub const UNKNOWN_SIZE: u32 = u32::MAX;

/// A symbol's name, hashed: equal names have equal keys in every object and on every machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct NameKey(pub u64);

impl NameKey {
    pub fn of(name: &[u8]) -> NameKey {
        NameKey::from_digest(NameKey::digest(name))
    }

    /// The full digest of a name, of which the key is a part.
    pub fn digest(name: &[u8]) -> Digest {
        Digest::of(NAME, name)
    }

    pub fn from_digest(digest: Digest) -> NameKey {
        NameKey(digest.0 as u64)
    }
}

/// A piece of a summary's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Text {
    pub start: u32,
    pub length: u32,
}

/// What an element is, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits(pub u32);

impl Traits {
    pub const CODE: Traits = Traits(1);
    /// Can change while the program runs.
    pub const WRITABLE: Traits = Traits(2);
    /// Run before `main` (or after it).
    pub const INITIALISER: Traits = Traits(4);
    /// Other objects may hold a copy of it, of which the linker keeps one.
    pub const SHARED: Traits = Traits(8);
    /// No global symbol leads to it: it matters only where an element of the same object refers to it.
    pub const PRIVATE: Traits = Traits(16);
    /// The object could not be read: this element is the whole file, and every test depends on it.
    pub const OPAQUE: Traits = Traits(32);
    /// Its calls through virtual tables are among its references.
    pub const TRACED: Traits = Traits(64);

    pub fn has(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    pub fn with(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementSummary {
    /// Its bytes, the names it defines, and its references by label and place.
    pub content: Digest,
    /// For shared elements: the content together with that of everything private it leads to, if that is
    /// read-only and free of cycles. Copies with equal closures are one, and are kept in packs: what an object
    /// keeps for itself has none.
    pub closure: Option<Digest>,
    /// The symbol it is known by, else its section.
    pub name: Text,
    pub first_reference: u32,
    pub traits: Traits,
}

/// Where a reference leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reference {
    /// An element of the same object.
    Element(u32),
    /// A symbol of this object's table, to be found by name.
    Symbol(u32),
    /// An element that others hold too, by its place in the object's list of them.
    Common(u32),
}

impl Reference {
    /// The two lowest bits tell the kind, so that small places stay small numbers.
    fn encode(self) -> u32 {
        match self {
            Reference::Element(index) => index << 2,
            Reference::Common(index) => index << 2 | 1,
            Reference::Symbol(index) => index << 2 | 2,
        }
    }

    fn decode(number: u32) -> Option<Reference> {
        let index = number >> 2;
        match number & 3 {
            0 => Some(Reference::Element(index)),
            1 => Some(Reference::Common(index)),
            2 => Some(Reference::Symbol(index)),
            _ => None,
        }
    }
}

/// What a symbol is to the linker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    Undefined = 0,
    Local = 1,
    Weak = 2,
    Strong = 3,
}

/// What a symbol is to GoogleTest, judged by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestRole {
    None = 0,
    /// `Suite_Name_Test::TestBody()`.
    Body = 1,
    /// `TestFactoryImpl<T>::CreateTest()` and its sibling for parameterised tests.
    Factory = 2,
    /// `SetUpTestSuite`, `TearDownTestSuite` and their old names.
    SuiteHook = 3,
    /// A parameter or name generator of `INSTANTIATE_TEST_SUITE_P`.
    Generator = 4,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolSummary {
    pub key: NameKey,
    pub name: Text,
    /// `NO_ELEMENT` for undefined symbols.
    pub element: u32,
    pub size: u32,
    pub linkage: Linkage,
    pub role: TestRole,
}

/// `__start_X` and `__stop_X` reach every section named X.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounded {
    pub start: NameKey,
    pub stop: NameKey,
    pub element: u32,
}

/// An element of a pack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Common {
    /// Which of the packs.
    pub pack: u32,
    pub element: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ObjectSummary {
    /// The compiler's own words, from `.comment`; with the machine type.
    pub compiler: String,
    pub elements: Vec<ElementSummary>,
    pub references: Vec<Reference>,
    pub symbols: Vec<SymbolSummary>,
    pub bounded: Vec<Bounded>,
    pub text: Vec<u8>,
    /// What could not be seen, in words for the user.
    pub notes: Vec<String>,
    /// Elements that other objects hold too. Packs are numbered as in the build they are part of; as stored, and
    /// until they get numbers, as in `packs`.
    pub commons: Vec<Common>,
    /// The keys of the packs that `commons` are in, as stored.
    pub packs: Vec<Digest>,
}

impl ObjectSummary {
    /// Whether linking it changes nothing, and so does not linking it.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
            && self.symbols.is_empty()
            && self.commons.is_empty()
            && self.notes.is_empty()
    }

    pub fn name(&self, text: Text) -> &[u8] {
        piece(&self.text, text)
    }

    pub fn element_name(&self, element: u32) -> &[u8] {
        self.name(self.elements[element as usize].name)
    }

    pub fn symbol_name(&self, symbol: u32) -> &[u8] {
        self.name(self.symbols[symbol as usize].name)
    }

    pub fn references_of(&self, element: u32) -> &[Reference] {
        let start = self.elements[element as usize].first_reference as usize;
        let end = match self.elements.get(element as usize + 1) {
            Some(next) => next.first_reference as usize,
            None => self.references.len(),
        };
        self.references.get(start..end).unwrap_or(&[])
    }

    /// Adds a piece of text.
    pub fn keep(&mut self, bytes: &[u8]) -> Text {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(bytes);
        Text { start, length: bytes.len() as u32 }
    }

    /// Numbers the packs as a build has them; false if one is missing or lacks an element.
    pub fn number_packs(&mut self, packs: &[Packed]) -> bool {
        let place = |key: &Digest| packs.iter().position(|packed| packed.key == *key);
        let Some(places) = self.packs.iter().map(place).collect::<Option<Vec<usize>>>() else { return false };
        self.packs.clear();
        self.commons.iter_mut().all(|common| {
            let place = places[common.pack as usize];
            common.pack = place as u32;
            (common.element as usize) < packs[place].pack.elements.len()
        })
    }

    /// The stored form. The packs are those of the build, by which common elements are numbered.
    pub fn encode(&self, packs: &[Packed]) -> Vec<u8> {
        self.encode_with(|pack| packs[pack as usize].key)
    }

    /// The stored form of a summary whose packs did not get numbers yet.
    pub fn encode_unnumbered(&self) -> Vec<u8> {
        self.encode_with(|pack| self.packs[pack as usize])
    }

    fn encode_with(&self, pack_key: impl Fn(u32) -> Digest) -> Vec<u8> {
        let lists = self.elements.len() * 24 + self.symbols.len() * 12 + self.bounded.len() * 20;
        let numbers = (self.references.len() + self.commons.len()) * 3;
        let texts = self.text.len() + self.compiler.len() + self.notes.iter().map(String::len).sum::<usize>();
        let mut out = Writer(Vec::with_capacity(lists + numbers + texts + 256));
        out.word(SUMMARY_VERSION);
        out.bytes(self.compiler.as_bytes());
        write_texts(&mut out, &self.pieces());
        out.word(self.elements.len() as u32);
        let (mut text_end, mut references) = (0, 0);
        for element in &self.elements {
            out.digest(element.content);
            text_end = write_text(&mut out, text_end, element.name);
            out.step(references, element.first_reference);
            references = element.first_reference;
            out.number(element.traits.0);
        }
        out.word(self.references.len() as u32);
        self.references.iter().for_each(|reference| out.number(reference.encode()));
        out.word(self.symbols.len() as u32);
        text_end = 0;
        for symbol in &self.symbols {
            text_end = write_text(&mut out, text_end, symbol.name);
            // No element is the greatest number, and becomes the least.
            out.number(symbol.element.wrapping_add(1));
            out.number(symbol.size);
            out.number(symbol_bits(symbol.linkage, symbol.role));
        }
        out.word(self.bounded.len() as u32);
        for bounded in &self.bounded {
            out.long(bounded.start.0);
            out.long(bounded.stop.0);
            out.word(bounded.element);
        }
        out.word(self.notes.len() as u32);
        for note in &self.notes {
            out.bytes(note.as_bytes());
        }
        let mut used: Vec<u32> = self.commons.iter().map(|common| common.pack).collect();
        used.sort_unstable();
        used.dedup();
        out.word(used.len() as u32);
        used.iter().for_each(|&pack| out.digest(pack_key(pack)));
        // Neighbours are mostly of one pack.
        let runs = || self.commons.chunk_by(|a, b| a.pack == b.pack);
        out.word(runs().count() as u32);
        for run in runs() {
            out.word(used.partition_point(|&pack| pack < run[0].pack) as u32);
            out.counted_steps(run.iter().map(|common| common.element));
        }
        out.sealed(SUMMARY).1
    }

    /// The inverse of [`ObjectSummary::encode`]; `None` for another version or damaged bytes.
    pub fn decode(bytes: &[u8]) -> Option<ObjectSummary> {
        let mut input = Reader::unsealed(SUMMARY, bytes)?;
        if input.word()? != SUMMARY_VERSION {
            return None;
        }
        let compiler = String::from_utf8(input.bytes()?.to_vec()).ok()?;
        let text = read_texts(&mut input)?.text;
        let (mut text_end, mut first_reference) = (0, 0);
        let elements = input.list(20, |input| {
            let content = input.digest()?;
            let name;
            (name, text_end) = read_text(input, text_end)?;
            first_reference = input.step(first_reference)?;
            let traits = Traits(input.number()?);
            Some(ElementSummary { content, closure: None, name, first_reference, traits })
        })?;
        let references = input.list(1, |input| Reference::decode(input.number()?))?;
        text_end = 0;
        let symbols = input.list(5, |input| {
            let name;
            (name, text_end) = read_text(input, text_end)?;
            let element = input.number()?.wrapping_sub(1);
            let size = input.number()?;
            let (linkage, role) = read_symbol_bits(input.number()?)?;
            let key = NameKey::of(piece(&text, name));
            Some(SymbolSummary { key, name, element, size, linkage, role })
        })?;
        let bounded = input.list(20, |input| {
            Some(Bounded {
                start: NameKey(input.long()?),
                stop: NameKey(input.long()?),
                element: input.word()?,
            })
        })?;
        let notes = input.list(4, |input| String::from_utf8(input.bytes()?.to_vec()).ok())?;
        let packs = input.list(16, Reader::digest)?;
        let runs = input.list(8, |input| {
            let pack = input.word()?;
            let elements = input.counted_steps()?;
            Some(elements.into_iter().map(|element| Common { pack, element }).collect::<Vec<_>>())
        })?;
        let commons = runs.concat();
        let summary =
            ObjectSummary { compiler, elements, references, symbols, bounded, text, notes, commons, packs };
        (input.0.is_empty() && summary.is_consistent()).then_some(summary)
    }

    /// Everything but what the elements hold and how large the symbols are: what linking follows from. The closures
    /// are those of the common elements, in order.
    pub fn shape(&self, closures: impl Iterator<Item = Digest>) -> Digest {
        let count = self.elements.len() * 4 + self.references.len() + self.symbols.len() * 4 + 8;
        let mut out = Writer(Vec::with_capacity(count * 4 + self.text.len() + self.commons.len() * 16));
        out.word(SUMMARY_VERSION);
        out.bytes(self.compiler.as_bytes());
        out.bytes(&self.text);
        for element in &self.elements {
            out.word(element.name.start);
            out.word(element.name.length);
            out.word(element.first_reference);
            out.word(element.traits.0);
        }
        out.word(self.references.len() as u32);
        self.references.iter().for_each(|reference| out.word(reference.encode()));
        for symbol in &self.symbols {
            out.word(symbol.name.start);
            out.word(symbol.name.length);
            out.word(symbol.element);
            out.word(symbol_bits(symbol.linkage, symbol.role));
        }
        for bounded in &self.bounded {
            out.long(bounded.start.0);
            out.long(bounded.stop.0);
            out.word(bounded.element);
        }
        self.notes.iter().for_each(|note| out.bytes(note.as_bytes()));
        closures.for_each(|closure| out.digest(closure));
        let lists = [self.elements.len(), self.symbols.len(), self.bounded.len(), self.notes.len()];
        lists.iter().for_each(|&length| out.word(length as u32));
        Digest::of(SHAPE, &out.0)
    }

    /// Whether the object, or a part of it, could not be understood and counts as a whole.
    pub fn is_opaque(&self) -> bool {
        self.elements.iter().any(|element| element.traits.has(Traits::OPAQUE))
    }

    /// The text, cut where a name begins.
    fn pieces(&self) -> Vec<&[u8]> {
        let of_elements = self.elements.iter().map(|element| element.name.start as usize);
        let of_symbols = self.symbols.iter().map(|symbol| symbol.name.start as usize);
        let mut cuts: Vec<usize> = of_symbols.chain(of_elements).chain([0]).collect();
        cuts.retain(|&cut| cut < self.text.len());
        cuts.sort_unstable();
        cuts.dedup();
        let ends = cuts.iter().skip(1).copied().chain([self.text.len()]);
        cuts.iter().zip(ends).map(|(&start, end)| &self.text[start..end]).collect()
    }

    /// Whether every index is in range, so that later steps need not check.
    fn is_consistent(&self) -> bool {
        let (elements, symbols) = (self.elements.len() as u32, self.symbols.len() as u32);
        let ordered = self.elements.is_sorted_by_key(|element| element.first_reference)
            && self.elements.iter().all(|element| element.first_reference as usize <= self.references.len());
        let references = self.references.iter().all(|reference| match *reference {
            Reference::Element(index) => index < elements,
            Reference::Symbol(index) => index < symbols,
            Reference::Common(index) => (index as usize) < self.commons.len(),
        });
        let packed = self.commons.iter().all(|common| (common.pack as usize) < self.packs.len());
        let defined = self.symbols.iter().all(|symbol| match symbol.linkage {
            Linkage::Undefined => symbol.element == NO_ELEMENT,
            Linkage::Local | Linkage::Weak | Linkage::Strong => symbol.element < elements,
        });
        ordered
            && references
            && packed
            && defined
            && self.bounded.iter().all(|bounded| bounded.element < elements)
    }
}

/// Most pieces of text follow the last one. Gives where it ends.
fn write_text(out: &mut Writer, last_end: u32, text: Text) -> u32 {
    out.step(last_end, text.start);
    out.number(text.length);
    text.start.wrapping_add(text.length)
}

/// The inverse of [`write_text`]; with where it ends.
fn read_text(input: &mut Reader<'_>, last_end: u32) -> Option<(Text, u32)> {
    let text = Text { start: input.step(last_end)?, length: input.number()? };
    Some((text, text.start.wrapping_add(text.length)))
}

/// A piece of text; nothing where it is not within the text.
fn piece(text: &[u8], piece: Text) -> &[u8] {
    let start = piece.start as usize;
    text.get(start..start + piece.length as usize).unwrap_or(b"")
}

pub(crate) fn symbol_bits(linkage: Linkage, role: TestRole) -> u32 {
    linkage as u32 | (role as u32) << 2
}

pub(crate) fn read_symbol_bits(bits: u32) -> Option<(Linkage, TestRole)> {
    let linkage = match bits & 3 {
        0 => Linkage::Undefined,
        1 => Linkage::Local,
        2 => Linkage::Weak,
        _ => Linkage::Strong,
    };
    let role = match bits >> 2 {
        0 => TestRole::None,
        1 => TestRole::Body,
        2 => TestRole::Factory,
        3 => TestRole::SuiteHook,
        4 => TestRole::Generator,
        _ => return None,
    };
    Some((linkage, role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_and_the_least_of_everything_is_the_same_after_encoding() {
        let mut summary = ObjectSummary { compiler: "cc".to_string(), ..ObjectSummary::default() };
        let names = [&b"main"[..], b"_ZN1a1bEv", b"_ZN1a1cEv", b""].map(|name| summary.keep(name));
        let element = |name, first_reference, traits| ElementSummary {
            content: Digest(u128::MAX - 1),
            closure: None,
            name,
            first_reference,
            traits: Traits(traits),
        };
        summary.elements =
            vec![element(names[2], 0, 0), element(names[0], 0, u32::MAX), element(names[3], 4, 1)];
        summary.references =
            vec![Reference::Element(2), Reference::Symbol(0), Reference::Common(1), Reference::Symbol(2)];
        let symbol = |name: Text, element, size, linkage, role| SymbolSummary {
            key: NameKey::of(piece(b"main_ZN1a1bEv_ZN1a1cEv", name)),
            name,
            element,
            size,
            linkage,
            role,
        };
        summary.symbols = vec![
            symbol(names[2], NO_ELEMENT, UNKNOWN_SIZE, Linkage::Undefined, TestRole::Generator),
            symbol(names[1], 2, 0, Linkage::Strong, TestRole::None),
            symbol(names[3], 0, 200, Linkage::Weak, TestRole::Body),
        ];
        summary.packs = vec![Digest(7), Digest(9)];
        summary.commons =
            [(0, u32::MAX), (0, 0), (1, 5), (0, 6)].map(|(pack, element)| Common { pack, element }).to_vec();
        let bytes = summary.encode_unnumbered();
        assert_eq!(ObjectSummary::decode(&bytes), Some(summary));
        assert!((0..bytes.len()).all(|end| ObjectSummary::decode(&bytes[..end]).is_none()));
    }
}
