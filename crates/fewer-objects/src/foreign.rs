//! Code and data that a program contains but no object of the build explains: static libraries from elsewhere, or objects
//! that are gone. They are compared symbol by symbol with addresses replaced by what lies there, so that they stay the
//! same while the program around them moves.

mod cover;
mod open_names;
mod program;

use std::ops::Range;

use fewer_core::{Digest, DigestBuilder, DigestSum, Domain};

use crate::address_fields::{AddressField, FieldKind, clear, mask_aarch64, x86_address_fields};
use crate::explanations::Candidate;
use crate::image::{ImageSummary, ImageSymbol};
use crate::layout::{Body, Filling, Layout};
use crate::name_map::{KeyedMap, NameMap, SizedNameMap};
use crate::relocatable::MOST_OVERLAP;
use crate::summary::NameKey;

use open_names::OpenNames;
use program::{Placed, Program};

const FOREIGN: Domain = Domain::new("image.foreign");
const WHOLE: Domain = Domain::new("image.whole");

/// A digest of the foreign part of programs, with the work on equal symbols shared between them: most programs of a
/// build contain the same libraries.
#[derive(Default)]
pub struct ForeignReader<'d> {
    numbers: KeyedMap<Identity, u32>,
    /// Per number.
    identities: Vec<Identity>,
    /// Per number what was met so far.
    shapes: Vec<Vec<Shape<'d>>>,
    /// The symbols of the last program.
    listed: Vec<Listed>,
}

/// A symbol by name and size.
struct Listed {
    name: (NameKey, u32),
    /// `None` if the file has several of these, which only their content tells apart.
    number: Option<u32>,
}

/// What a linked file contains that no object explains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Foreign {
    /// `None` if there is nothing.
    pub digest: Option<Digest>,
    /// The names of what it calls or uses besides itself: of the project or of shared libraries. Sorted.
    pub calls: Vec<NameKey>,
}

/// What tells the symbols of a program apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Identity {
    key: NameKey,
    size: u32,
    /// Of the content without addresses, where several of the file have this name and size.
    content: u64,
}

impl Identity {
    fn add_to(&self, digest: &mut DigestBuilder) {
        digest.number(self.key.0).number(u64::from(self.size)).number(self.content);
    }
}

/// Bytes that are the same but for addresses, which are in the same places.
struct Shape<'d> {
    bytes: &'d [u8],
    is_code: bool,
    /// Whether it is code whose addresses all count from where they are.
    is_relative_code: bool,
    fields: Vec<AddressField>,
    /// Zero where there are addresses.
    mask: Vec<u8>,
    variants: Vec<Variant<'d>>,
}

/// What the addresses of a shape led to in some program.
struct Variant<'d> {
    labels: Vec<Label<'d>>,
    digest: Digest,
}

/// What an address leads to, as far as it can be told without the names of all symbols.
#[derive(Clone, Copy)]
enum Reference<'d> {
    /// To what it led to in the first variant of its shape.
    AsBefore,
    To(Label<'d>),
    Open(u64),
}

/// What lies at an address, in a way that does not depend on where it lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label<'d> {
    /// A foreign symbol by its number, and how far into it.
    Foreign(u32, u64),
    /// What else has a name, and how far into it; also what is in a shared library.
    Named(NameKey, u64),
    /// What has a number instead of a name, by the digest of its content.
    Numbered([u8; 16]),
    /// The bytes of a constant.
    Constant(&'d [u8]),
    /// Nothing of the file.
    Elsewhere(u64),
    /// It has neither name nor content that could be told.
    Nothing,
}

/// How many bytes may be looked at: symbols of a damaged file may lie within each other many times.
#[derive(Clone, Copy)]
struct Room(usize);

impl Room {
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}

/// How many addresses a function holds, more or less.
const USUAL_ADDRESSES: usize = 12;

/// Of shapes and variants of one symbol so many are compared with. There are more only if every program has another.
const MOST_COMPARED: usize = 8;

impl<'d> ForeignReader<'d> {
    /// Reads the symbols of a file that nothing explains. A file counts as a whole if it is stripped, not the one that
    /// the symbols are of, or damaged.
    pub fn read(&mut self, bytes: &'d [u8], image: &ImageSummary, candidates: &[Candidate]) -> Foreign {
        let layout = Layout::of(bytes).filter(|_| !image.is_stripped());
        let room = Room(bytes.len().saturating_mul(MOST_OVERLAP));
        let program = layout.and_then(|layout| self.program(layout, candidates, room));
        let read = program.and_then(|program| self.read_symbols(&program, room));
        read.unwrap_or_else(|| Foreign { digest: Some(Digest::of(WHOLE, bytes)), calls: Vec::new() })
    }

    /// `None` if symbols lie within each other too often, or in constants that are not held.
    fn read_symbols(&mut self, program: &Program<'d>, room: Room) -> Option<Foreign> {
        let parts = self.parts(program, room)?;
        let (found, names) = self.found(program, &parts, room)?;
        let mut digest = DigestBuilder::new(FOREIGN);
        let mut all = DigestSum::default();
        for (part, references) in parts.list.iter().zip(&found.references) {
            let shape = &mut self.shapes[part.symbol.number as usize][part.shape];
            let shown = match references {
                None => shape.variants[0].digest,
                Some(references) => shape.digest(references, &names, &self.identities, program.layout.is_x86),
            };
            self.identities[part.symbol.number as usize].add_to(&mut digest);
            digest.digest(shown);
            all.add(digest.finish());
        }
        if program.layout.has_missed() {
            return None;
        }
        let digest = (!parts.list.is_empty()).then(|| digest.sum(&all).finish());
        Some(Foreign { digest, calls: found.names(&names) })
    }

    /// `None` if a symbol has no place in the file, or symbols lie within each other too often.
    fn program(
        &mut self,
        layout: Layout<'d>,
        candidates: &[Candidate],
        mut room: Room,
    ) -> Option<Program<'d>> {
        let foreign: Vec<ImageSymbol> =
            candidates.iter().filter(|candidate| !candidate.is_explained).map(|found| found.symbol).collect();
        self.note_listed(&foreign);
        let placed = |(place, symbol): (usize, &ImageSymbol)| {
            let ImageSymbol { key, size, .. } = *symbol;
            let location = layout.place(symbol)?;
            let number = match self.listed[place].number {
                Some(number) => number,
                None => {
                    let body = layout.body(location, size);
                    room.take(body.map_or(0, |body| body.bytes.len()))?;
                    let content = body.map_or(0, |body| content_key(&layout, body));
                    self.number(Identity { key, size, content })
                }
            };
            Some(Placed { number, key, size, place: location })
        };
        let symbols = foreign.iter().enumerate().map(placed).collect::<Option<_>>()?;
        Some(Program::of(layout, symbols, self.shapes.len()))
    }

    /// Numbers symbols as far as their names and sizes tell them apart. Most programs have the same in the same order.
    fn note_listed(&mut self, symbols: &[ImageSymbol]) {
        let name = |symbol: &ImageSymbol| (symbol.key, symbol.size);
        if self.listed.iter().map(|listed| listed.name).eq(symbols.iter().map(name)) {
            return;
        }
        let mut counts: SizedNameMap<u32> = SizedNameMap::default();
        counts.reserve(symbols.len());
        symbols.iter().for_each(|symbol| *counts.entry(name(symbol)).or_default() += 1);
        let listed = |symbol: &ImageSymbol| {
            let identity = Identity { key: symbol.key, size: symbol.size, content: 0 };
            let number = (counts[&name(symbol)] == 1).then(|| self.number(identity));
            Listed { name: name(symbol), number }
        };
        self.listed = symbols.iter().map(listed).collect();
    }

    fn number(&mut self, identity: Identity) -> u32 {
        let ForeignReader { numbers, identities, shapes, .. } = self;
        *numbers.entry(identity).or_insert_with(|| {
            identities.push(identity);
            shapes.push(Vec::new());
            shapes.len() as u32 - 1
        })
    }

    /// The foreign symbols with their bytes and shapes.
    fn parts(&mut self, program: &Program<'d>, mut room: Room) -> Option<Parts> {
        let mut parts = Vec::with_capacity(program.symbols.len());
        let mut targets = Vec::with_capacity(program.symbols.len() * USUAL_ADDRESSES);
        for symbol in &program.symbols {
            // What has no bytes in the file starts as zeros, or is copied from a shared library.
            let Some(body) = program.layout.body(symbol.place, symbol.size) else { continue };
            room.take(body.bytes.len())?;
            let fillings = match body.is_code {
                true => Vec::new(),
                false => program.layout.fillings(body),
            };
            if body.is_code || !fillings.is_empty() || body.bytes.iter().any(|&byte| byte != 0) {
                let known = &mut self.shapes[symbol.number as usize];
                let first = targets.len();
                let shape = match body.is_code {
                    true => code_shape(known, &program.layout, &body, &mut targets),
                    false => data_shape(known, body.bytes, &fillings),
                };
                parts.push(Part { symbol: *symbol, shape, targets: first..targets.len(), fillings });
            }
        }
        Some(Parts { list: parts, targets })
    }

    /// What all addresses of all parts lead to, with the names for those that are open.
    fn found(&self, program: &Program<'d>, parts: &Parts, room: Room) -> Option<(Found<'d>, OpenNames<'d>)> {
        let assuming = self.found_with(program, parts, Some(Assumed::default()));
        let names = OpenNames::of(program, &self.identities, &assuming, room)?;
        if assuming.assumed.iter().all(|assumed| assumed.is_confirmed(&names)) {
            return Some((assuming, names));
        }
        let plain = self.found_with(program, parts, None);
        let names = OpenNames::of(program, &self.identities, &plain, room)?;
        Some((plain, names))
    }

    fn found_with(&self, program: &Program<'d>, parts: &Parts, assumed: Option<Assumed>) -> Found<'d> {
        let mut found = Found { references: Vec::with_capacity(parts.list.len()), assumed };
        for part in &parts.list {
            let shape = &self.shapes[part.symbol.number as usize][part.shape];
            let references = found.references(program, part, &parts.targets[part.targets.clone()], shape);
            found.references.push(references);
        }
        found
    }
}

/// What the addresses of parts lead to.
struct Found<'d> {
    /// Per part; `None` if all are as before.
    references: Vec<Option<Vec<Reference<'d>>>>,
    assumed: Option<Assumed>,
}

/// What is taken to be at some addresses because the same code led to it before. To be confirmed when all names are known:
/// most code calls the same few functions again and again.
#[derive(Default)]
struct Assumed {
    names: NameMap<u64>,
    /// Addresses of what has neither name nor content that could be told.
    nothing: Vec<u64>,
}

impl Assumed {
    fn is_confirmed(&self, names: &OpenNames<'_>) -> bool {
        self.names.iter().all(|(key, address)| names.label(*address) == Label::Named(*key, 0))
            && self.nothing.iter().all(|address| names.label(*address) == Label::Nothing)
    }
}

impl<'d> Found<'d> {
    fn references(
        &mut self,
        program: &Program<'d>,
        Part { fillings, .. }: &Part,
        targets: &[u64],
        Shape { fields, variants, is_code, .. }: &Shape<'d>,
    ) -> Option<Vec<Reference<'d>>> {
        if !is_code {
            return Some(fillings.iter().map(|(_, filling)| program.filled_with(*filling)).collect());
        }
        let fields = fields.iter().zip(targets);
        let reference = |(field, target): (&AddressField, &u64)| program.reference(field.kind, *target);
        let Some(before) = variants.first() else { return Some(fields.map(reference).collect()) };
        let mut is_as_before = |((field, &address), label): ((&AddressField, &u64), &Label<'d>)| {
            program.confirms(label, field.kind, address)
                || self.may_assume(program, label, field.kind, address)
        };
        let pairs = fields.zip(&before.labels);
        if pairs.clone().all(&mut is_as_before) {
            return None;
        }
        let references = pairs.map(|(field, label)| match is_as_before((field, label)) {
            true => Reference::AsBefore,
            false => reference(field),
        });
        Some(references.collect())
    }

    /// Whether an address is taken to lead to what it led to before.
    fn may_assume(
        &mut self,
        program: &Program<'d>,
        label: &Label<'d>,
        kind: FieldKind,
        address: u64,
    ) -> bool {
        let Some(assumed) = &mut self.assumed else { return false };
        match label {
            Label::Named(key, 0) => match assumed.names.get(key) {
                Some(known) => *known == address,
                None => program.is_open(address) && assumed.names.insert(*key, address).is_none(),
            },
            Label::Nothing => {
                let is_open = matches!(program.reference(kind, address), Reference::Open(_));
                assumed.nothing.extend(is_open.then_some(address));
                is_open
            }
            Label::Named(..)
            | Label::Foreign(..)
            | Label::Numbered(_)
            | Label::Constant(_)
            | Label::Elsewhere(_) => false,
        }
    }

    fn assumed_names(&self) -> impl Iterator<Item = (&NameKey, &u64)> {
        self.assumed.iter().flat_map(|assumed| &assumed.names)
    }

    /// The names that are led to.
    fn names(&self, open: &OpenNames<'d>) -> Vec<NameKey> {
        let assumed = self.assumed_names().map(|(key, _)| *key);
        let references = self.references.iter().flatten().flatten();
        let told = references.filter_map(|reference| match reference {
            Reference::To(Label::Named(key, _)) => Some(*key),
            Reference::To(_) | Reference::AsBefore | Reference::Open(_) => None,
        });
        let open = open.labels.iter().filter_map(|label| match label {
            Label::Named(key, _) => Some(*key),
            _ => None,
        });
        let mut names: Vec<NameKey> = assumed.chain(told).chain(open).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The addresses for which names are needed.
    fn open(&self) -> Vec<u64> {
        let references = self.references.iter().flatten().flatten();
        let open = references.filter_map(|reference| match reference {
            Reference::Open(address) => Some(*address),
            Reference::AsBefore | Reference::To(_) => None,
        });
        let nothing = self.assumed.iter().flat_map(|assumed| &assumed.nothing).copied();
        let named = self.assumed_names().map(|(_, address)| *address);
        let mut open: Vec<u64> = open.chain(nothing).chain(named).collect();
        open.sort_unstable();
        open.dedup();
        open
    }
}

/// The place of code of this kind among the shapes of its name and size; decoded only if none is like it.
/// What its addresses are is added to `targets`.
fn code_shape<'d>(
    known: &mut Vec<Shape<'d>>,
    layout: &Layout<'d>,
    body: &Body<'d>,
    targets: &mut Vec<u64>,
) -> usize {
    let first = targets.len();
    // Code that is the same without addresses, and leaves by the same branches, holds them in the same places; but for
    // absolute ones, of which each file has others.
    let inside = body.address..body.address.saturating_add(body.bytes.len() as u64);
    let is_like = |shape: &Shape<'_>| {
        if !shape.is_relative_code || !shape.is_equal_outside(body.bytes) {
            return false;
        }
        targets.truncate(first);
        targets.extend(shape.fields.iter().map(|field| field.target(body)));
        let mut pairs = shape.fields.iter().zip(&targets[first..]);
        pairs.all(|(field, target)| field.kind != FieldKind::Branch || !inside.contains(target))
    };
    let place = if layout.is_fixed { None } else { known.iter().take(MOST_COMPARED).position(is_like) };
    place.unwrap_or_else(|| {
        let fields = code_fields(layout, body);
        targets.truncate(first);
        targets.extend(fields.iter().map(|field| field.target(body)));
        known.push(Shape::new(body.bytes, true, fields));
        known.len() - 1
    })
}

/// The same for data, whose addresses are told by the file.
fn data_shape<'d>(known: &mut Vec<Shape<'d>>, data: &'d [u8], fillings: &[(usize, Filling)]) -> usize {
    let fields = word_fields(fillings);
    let is_like =
        |shape: &Shape<'_>| !shape.is_code && shape.fields == fields && shape.is_equal_outside(data);
    known.iter().take(MOST_COMPARED).position(is_like).unwrap_or_else(|| {
        known.push(Shape::new(data, false, fields));
        known.len() - 1
    })
}

/// Where code holds addresses, as far as these are replaced.
fn code_fields(layout: &Layout<'_>, code: &Body<'_>) -> Vec<AddressField> {
    if layout.is_x86 { x86_address_fields(layout, code) } else { Vec::new() }
}

/// Where data hold addresses.
fn word_fields(fillings: &[(usize, Filling)]) -> Vec<AddressField> {
    fillings.iter().map(|(place, _)| AddressField::word(*place as u32)).collect()
}

impl<'d> Shape<'d> {
    fn new(bytes: &'d [u8], is_code: bool, fields: Vec<AddressField>) -> Shape<'d> {
        let mut mask = vec![u8::MAX; bytes.len()];
        clear(&mut mask, &fields);
        let is_relative_code = is_code && fields.iter().all(AddressField::is_relative);
        Shape { bytes, is_code, is_relative_code, fields, mask, variants: Vec::new() }
    }

    /// Whether other bytes are the same but for the addresses. All are looked at, as that is many at a time.
    fn is_equal_outside(&self, other: &[u8]) -> bool {
        let pairs = self.bytes.iter().zip(other).zip(&self.mask);
        let difference = pairs.fold(0, |difference, ((a, b), mask)| difference | (a ^ b) & mask);
        self.bytes.len() == other.len() && difference == 0
    }

    /// The digest of the bytes with their addresses as what they lead to.
    fn digest(
        &mut self,
        references: &[Reference<'d>],
        names: &OpenNames<'d>,
        identities: &[Identity],
        is_x86: bool,
    ) -> Digest {
        let label = |reference: &Reference<'d>, before: Option<&Label<'d>>| match reference {
            Reference::AsBefore => before.copied().unwrap_or(Label::Nothing),
            Reference::To(label) => *label,
            Reference::Open(address) => names.label(*address),
        };
        let first = self.variants.first().map_or(&[][..], |variant| &variant.labels);
        let labels =
            references.iter().enumerate().map(|(index, reference)| label(reference, first.get(index)));
        let is_same = |variant: &&Variant<'d>| labels.clone().eq(variant.labels.iter().copied());
        if let Some(known) = self.variants.iter().take(MOST_COMPARED).find(is_same) {
            return known.digest;
        }
        let labels: Vec<Label<'d>> = labels.collect();
        let mut digest = DigestBuilder::new(FOREIGN);
        digest.digest(masked_digest(self.bytes, &self.fields, self.is_code && !is_x86));
        labels.iter().for_each(|label| label.add_to(identities, &mut digest));
        let digest = digest.finish();
        self.variants.push(Variant { labels, digest });
        digest
    }
}

impl Label<'_> {
    fn add_to(&self, identities: &[Identity], digest: &mut DigestBuilder) {
        match self {
            Label::Foreign(number, offset) => {
                identities[*number as usize].add_to(digest.number(0));
                digest.number(*offset)
            }
            Label::Named(key, offset) => digest.number(1).number(key.0).number(*offset),
            Label::Numbered(content) => digest.number(2).bytes(content),
            Label::Constant(bytes) => digest.number(3).bytes(bytes),
            Label::Elsewhere(address) => digest.number(4).number(*address),
            Label::Nothing => digest.number(5),
        };
    }
}

/// A foreign symbol with its bytes.
struct Part {
    symbol: Placed,
    /// Its place among the shapes of its number.
    shape: usize,
    /// Of code, its addresses.
    targets: Range<usize>,
    /// Of data, what is at its addresses.
    fillings: Vec<(usize, Filling)>,
}

/// The foreign symbols of a file that have bytes.
struct Parts {
    list: Vec<Part>,
    /// The addresses that code of all parts holds.
    targets: Vec<u64>,
}

/// What tells symbols of equal name and size apart, if they have bytes.
fn content_key<'d>(layout: &Layout<'d>, body: Body<'d>) -> u64 {
    let fields = match body.is_code {
        true => code_fields(layout, &body),
        false => word_fields(&layout.fillings(body)),
    };
    masked_digest(body.bytes, &fields, body.is_code && !layout.is_x86).0 as u64
}

/// The digest of some bytes without the addresses in them.
fn masked_digest(bytes: &[u8], fields: &[AddressField], is_aarch64: bool) -> Digest {
    let mut masked = bytes.to_vec();
    clear(&mut masked, fields);
    if is_aarch64 {
        mask_aarch64(&mut masked);
    }
    Digest::of(FOREIGN, &masked)
}
